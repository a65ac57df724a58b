"""What an expression may cost at most, judged from its text and the limits of the schema alone.

The rules are upstream's, since they decide which definitions are accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pybernetes.api.cel import cost
from pybernetes.api.cel.library_estimates import MOST, NOTHING, ONE, UNKNOWN, Node, Path, Range, library_cost
from pybernetes.api.cel.macros import ACCUMULATOR
from pybernetes.api.cel.tree import (
    Call,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    Walk,
)


class Entry(NamedTuple):
    """The sizes of what is in a list or map."""

    kind: str
    key: Range
    value: Range


@dataclass(slots=True)
class Local:
    """A variable of a loop."""

    path: Path
    size: Range | None = None
    entry: Entry | None = None


# The most items or characters that a schema allows at a path, or None if it is not known.
Sizes = Callable[[Path], "int | None"]


def estimate(tree: Expr, sizes: Sizes) -> Range:
    """Return the cost of a checked expression."""
    return _Estimator(sizes).visit(tree)


class _Estimator(Walk[Range]):
    def __init__(self, sizes: Sizes) -> None:
        self._limits = sizes
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, Entry] = {}
        self._locals: dict[str, list[Local]] = {}

    def _literal(self, expr: Literal) -> Range:
        return NOTHING

    def _ident(self, expr: Ident) -> Range:
        local = self._local(expr.name)
        self._paths[id(expr)] = local.path if local is not None else (expr.name,)
        return ONE

    def _struct(self, expr: StructExpr) -> Range:
        total = Range(cost.STRUCT, cost.STRUCT)
        for _, value, _, _ in expr.fields:
            total = total.add(self.visit(value))
        return total

    def _select(self, expr: Select) -> Range:
        total = self.visit(expr.operand)
        if expr.test:
            return total
        if expr.operand.type.kind in ("map", "object"):
            total = total.add(ONE)
        self._paths[id(expr)] = (*self.path(expr.operand), expr.name)
        return total

    def _list(self, expr: ListExpr) -> Range:
        total = Range(cost.LIST, cost.LIST)
        sizes = []
        for item in expr.items:
            total = total.add(self.visit(item))
            sizes.append(self.size_or_unknown(item))
        self._entries[id(expr)] = Entry("list", ONE, _covering(sizes))
        return total

    def _map(self, expr: MapExpr) -> Range:
        total = Range(cost.MAP, cost.MAP)
        keys, values = [], []
        for key, value, _ in expr.entries:
            total = total.add(self.visit(key)).add(self.visit(value))
            keys.append(self.size_or_unknown(key))
            values.append(self.size_or_unknown(value))
        self._entries[id(expr)] = Entry("map", _covering(keys), _covering(values))
        return total

    # -- loops -------------------------------------------------------------------------------------------------

    def _bind(self, expr: Fold, total: Range) -> Range:
        total = total.add(self.visit(expr.result))
        self._pop(expr.accumulator)
        self._copy(expr, expr.result)
        return total

    def _fold(self, expr: Fold) -> Range:
        total = self.visit(expr.over).add(self.visit(expr.initial))
        self._push(
            expr.accumulator,
            Local(self.path(expr.initial), self.size(expr.initial), self.entry(expr.initial)),
        )
        if expr.accumulator != ACCUMULATOR:
            return self._bind(expr, total)
        entry, path = self.entry(expr.over), self.path(expr.over)
        kind = entry.kind if entry is not None else expr.over.type.kind
        is_list = kind == "list"
        key, value = (entry.key, entry.value) if entry is not None else (None, None)
        if expr.second:
            self._push(expr.variable, Local((*path, "@indices" if is_list else "@keys"), key))
            self._push(expr.second, Local((*path, "@items" if is_list else "@values"), value))
        else:
            self._push(
                expr.variable, Local((*path, "@items" if is_list else "@keys"), value if is_list else key)
            )
        loop = self.visit(expr.condition).add(self.visit(expr.step))
        self._pop(expr.variable)
        if expr.second:
            self._pop(expr.second)
        total = total.add(self.visit(expr.result))
        self._pop(expr.accumulator)
        count = self.size_or_unknown(expr.over)
        if isinstance(expr.initial, Literal):
            self._set(expr, self.size(expr.initial))
        else:
            self._set(expr, count)
            if (step_entry := self.entry(expr.step)) is not None:
                self._entries[id(expr)] = step_entry
        return total.add(count.times(loop))

    def _push(self, name: str, local: Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _pop(self, name: str) -> None:
        self._locals[name].pop()

    def _local(self, name: str) -> Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    # -- calls -------------------------------------------------------------------------------------------------

    def _call(self, expr: Call) -> Range:
        if expr.function == "dyn":
            inner = self.visit(expr.args[0])
            self._copy(expr, expr.args[0])
            return inner.add(ONE)
        costs = [self.visit(arg) for arg in expr.args]
        args = [self.node(arg) for arg in expr.args]
        total, target = NOTHING, None
        if expr.target is not None:
            total = self.visit(expr.target)
            target = self.node(expr.target)
        price: Range | None = None
        result: Range | None = None
        for overload in expr.overloads:
            overload_cost, made = self._function(expr, overload.name, overload.id, target, args, costs)
            price = overload_cost if price is None else price.union(overload_cost)
            if made is not None:
                result = made if result is None else result.union(made)
            if overload.id in ("index_list", "index_map"):
                entry = self.entry(expr.args[0])
                result = entry.value if entry is not None else None
                end = "@items" if overload.id == "index_list" else "@values"
                self._paths[id(expr)] = (*self.path(expr.args[0]), end)
            if result is None:
                result = self.size(expr)
        self._set(expr, result)
        return total.add(price or NOTHING)

    def _function(
        self,
        expr: Call,
        name: str,
        identifier: str,
        target: Node | None,
        args: list[Node],
        costs: list[Range],
    ) -> tuple[Range, Range | None]:
        sum_ = NOTHING
        for argument_cost in costs:
            sum_ = sum_.add(argument_cost)
        library_estimate = library_cost(name, identifier, target, args, self._estimated)
        if library_estimate is not None:
            return library_estimate[0].add(sum_), library_estimate[1]
        size = [node.size or UNKNOWN for node in args]
        match identifier:
            case "string_format" if target is not None:
                return (target.size or UNKNOWN).scaled(cost.TRAVERSAL).add(sum_), None
            case "string_to_bytes":
                return size[0].scaled(cost.TRAVERSAL).add(sum_), Range(
                    size[0].least, min(MOST, size[0].most * 4)
                )
            case "bytes_to_string":
                return size[0].scaled(cost.TRAVERSAL).add(sum_), Range(size[0].least // 4, size[0].most)
            case "strings_quote":
                made = Range(size[0].least + 2, min(MOST, size[0].most * 2 + 2))
                return size[0].scaled(cost.TRAVERSAL).add(sum_), made
            case "starts_with_string" | "ends_with_string":
                return size[0].scaled(cost.TRAVERSAL).add(sum_), None
            case "in_list":
                return size[1].add(sum_), None
            case "matches" | "matches_string":
                text, pattern = (
                    (target.size or UNKNOWN, size[0]) if target is not None else (size[0], size[1])
                )
                return text.add(ONE).scaled(cost.TRAVERSAL).times(pattern.scaled(cost.REGEX)).add(sum_), None
            case "contains_string" if target is not None:
                text = (target.size or UNKNOWN).scaled(cost.TRAVERSAL)
                return text.times(size[0].scaled(cost.TRAVERSAL)).add(sum_), None
            case "logical_or" | "logical_and":
                return Range(costs[0].least, costs[0].add(costs[1]).most), None
            case "conditional":
                left, right = self.entry(expr.args[1]), self.entry(expr.args[2])
                if left is not None and right is not None:
                    self._entries[id(expr)] = _merged(left, right)
                return costs[0].add(costs[1].union(costs[2])), size[1].union(size[2])
            case "add_string" | "add_bytes" | "add_list":
                left, right = self.entry(expr.args[0]), self.entry(expr.args[1])
                if left is not None and right is not None:
                    self._entries[id(expr)] = _merged(left, right)
                made = size[0].add(size[1])
                own = ONE if identifier == "add_list" else made.scaled(cost.TRAVERSAL)
                return own.add(sum_), made
        compared = identifier in ("equals", "not_equals") or (
            name in ("_<_", "_<=_", "_>_", "_>=_") and identifier.endswith(("_string", "_bytes"))
        )
        if compared:
            most = min(size[0].most, size[1].most)
            return Range(1 if most > 0 else 0, most).scaled(cost.TRAVERSAL).add(sum_), None
        return ONE.add(sum_), None

    # -- sizes -------------------------------------------------------------------------------------------------

    def path(self, expr: Expr) -> Path:
        """Return where the schema says what an expression is."""
        if isinstance(expr, Ident):
            local = self._local(expr.name)
            if local is not None:
                return local.path
        return self._paths.get(id(expr), ())

    def node(self, expr: Expr) -> Node:
        """Return an argument with all that is known of its size."""
        path = self.path(expr)
        return Node(expr, expr.type, () if path[:1] == (ACCUMULATOR,) else path, self.size(expr))

    def _estimated(self, node: Node) -> Range:
        if node.size is not None:
            return node.size
        limit = self._limits(node.path) if node.path else None
        return Range(0, limit) if limit is not None else UNKNOWN

    def _set(self, expr: Expr, size: Range | None) -> None:
        if size is not None:
            self._sizes[id(expr)] = size

    def _copy(self, to: Expr, source: Expr) -> None:
        self._set(to, self.size(source))
        entry = self.entry(source)
        if entry is not None:
            self._entries[id(to)] = entry

    def size(self, expr: Expr) -> Range | None:
        """Return how large a value is, or None if nothing is known."""
        if id(expr) in self._sizes:
            return self._sizes[id(expr)]
        if isinstance(expr, Literal):
            value = expr.value
            known = len(value) if isinstance(value, str | bytes) else 1
            return Range(known, known)
        if isinstance(expr, ListExpr):
            return Range(len(expr.items), len(expr.items))
        if isinstance(expr, MapExpr):
            return Range(len(expr.entries), len(expr.entries))
        path = self.path(expr)
        limit = self._limits(path) if path else None
        if limit is not None:
            self._sizes[id(expr)] = Range(0, limit)
            return self._sizes[id(expr)]
        if expr.type.kind in ("bool", "int", "uint", "double", "timestamp", "duration", "null", "type"):
            return ONE
        if isinstance(expr, Ident):
            local = self._local(expr.name)
            return local.size if local is not None else None
        return None

    def size_or_unknown(self, expr: Expr) -> Range:
        """Return how large a value is, or may be."""
        return self.size(expr) or UNKNOWN

    def entry(self, expr: Expr) -> Entry | None:
        """Return how large the items of a list or map are, if they are known one by one."""
        if id(expr) in self._entries:
            return self._entries[id(expr)]
        if isinstance(expr, Ident):
            local = self._local(expr.name)
            return local.entry if local is not None else None
        return None


def _covering(sizes: Sequence[Range]) -> Range:
    if not sizes:
        return NOTHING
    covering = sizes[0]
    for size in sizes[1:]:
        covering = covering.union(size)
    return covering


def _merged(left: Entry, right: Entry) -> Entry:
    return Entry(left.kind, left.key.union(right.key), left.value.union(right.value))


__all__ = ["MOST", "Range", "estimate"]
