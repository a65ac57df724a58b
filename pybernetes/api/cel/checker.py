"""Find the type of every part of an expression, and what does not fit."""

from __future__ import annotations

from collections.abc import Mapping

from pybernetes.api.cel import types
from pybernetes.api.cel.library.declare import Overload
from pybernetes.api.cel.runtime import Moment, Span, Uint, succeeds
from pybernetes.api.cel.tree import (
    Call,
    Expr,
    Fold,
    Ident,
    Issue,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    Walk,
    qualified,
)
from pybernetes.api.cel.types import DYN, ERROR, Type, fits, is_dynamic, resolve
from pybernetes.api.text.regular_expressions import compile_pattern

_LITERALS = {
    str: types.STRING, bool: types.BOOL, int: types.INT, Uint: types.UINT, float: types.DOUBLE,
    bytes: types.BYTES, type(None): types.NULL, Moment: types.TIMESTAMP, Span: types.DURATION,
}  # fmt: skip
_TYPE_NAMES = frozenset(
    {"int", "uint", "double", "string", "bytes", "bool", "list", "map", "null_type", "type", "dyn",
     "google.protobuf.Timestamp", "google.protobuf.Duration", "optional_type", "net.IP", "net.CIDR", "kubernetes.URL",
     "kubernetes.Quantity", "kubernetes.Semver", "kubernetes.NamedFormat"}
)  # fmt: skip


_TEXTS = {
    "matches": succeeds(compile_pattern, ValueError),
    "duration": succeeds(Span.parse, ValueError),
    "timestamp": succeeds(Moment.parse, ValueError),
}


class Checker(Walk[Type]):
    """Checks one expression in an environment."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Mapping[str, list[Overload]],
        objects: Mapping[str, Type],
    ) -> None:
        self._scopes: list[dict[str, Type]] = [dict(variables)]
        self._functions, self._objects = functions, objects
        self._known: types.Mapping = {}
        self._all: list[Expr] = []
        self.issues: list[Issue] = []

    def check(self, expr: Expr) -> Type:
        """Return the type of the whole; errors are collected."""
        self.visit(expr)
        for node in self._all:
            node.type = resolve(node.type, self._known)
        return expr.type

    def _complain(self, at: int, text: str) -> Type:
        self.issues.append(Issue(at, text))
        return ERROR

    def visit(self, expr: Expr) -> Type:
        """Return the type of a part, as far as it is known when it is reached."""
        expr.type = self._method(expr)(expr)
        self._all.append(expr)
        return expr.type

    def _literal(self, expr: Literal) -> Type:
        return _LITERALS[type(expr.value)]

    def _lookup(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if name in _TYPE_NAMES or name in self._objects:
            return types.TYPE
        return None

    def _ident(self, expr: Ident) -> Type:
        type_ = self._lookup(expr.name)
        if type_ is None:
            return self._complain(expr.at, f"undeclared reference to '{expr.name}' (in container '')")
        return type_

    def _select(self, expr: Select) -> Type:
        name = qualified(expr)
        root = name.partition(".")[0]
        if name and not expr.test:
            # A variable or a type may have a name with dots, unless what it begins with is nearer.
            if name in self._scopes[0] and not any(root in scope for scope in self._scopes[1:]):
                return self._scopes[0][name]
            if self._lookup(root) is None and self._lookup(name) is not None:
                return types.TYPE
        operand = resolve(self.visit(expr.operand), self._known, free=True)
        optional = operand.kind == "optional"
        if optional:
            operand = resolve(operand.params[0], self._known, free=True)
        field_type = self._field(expr, operand)
        if expr.test:
            return ERROR if field_type is ERROR else types.BOOL
        return types.optional_of(field_type) if optional and field_type.kind != "optional" else field_type

    def _field(self, expr: Select, operand: Type) -> Type:
        if operand.kind == "map":
            return operand.params[1]
        if operand.kind == "object":
            if operand.fields is None:
                return DYN
            if expr.name in operand.fields:
                return operand.fields[expr.name]
            return self._complain(expr.at, f"undefined field '{expr.name}'")
        if is_dynamic(operand):
            return operand if operand is ERROR else DYN
        return self._complain(
            expr.at, f"type '{resolve(operand, self._known)}' does not support field selection"
        )

    # -- calls -------------------------------------------------------------------------------------------------

    def _call(self, expr: Call) -> Type:
        if expr.function == "_?._":
            return self._optional_select(expr)
        if expr.target is not None:
            full = qualified(expr.target)
            if (
                full
                and f"{full}.{expr.function}" in self._functions
                and self._lookup(full.partition(".")[0]) is None
            ):
                expr.function, expr.target = f"{full}.{expr.function}", None
        given = [self.visit(arg) for arg in expr.args]
        if expr.target is not None:
            given.insert(0, self.visit(expr.target))
        overloads = self._functions.get(expr.function)
        if overloads is None:
            return self._complain(expr.at, f"undeclared reference to '{expr.function}' (in container '')")
        return self._resolve(expr, overloads, given)

    def _resolve(self, expr: Call, overloads: list[Overload], given: list[Type]) -> Type:
        result: Type | None = None
        for overload in overloads:
            if overload.member != (expr.target is not None) or len(overload.params) != len(given):
                continue
            params, gives = overload.fresh()
            trial = dict(self._known)
            if not all(fits(wanted, type_, trial) for wanted, type_ in zip(params, given, strict=True)):
                continue
            expr.overloads.append(overload)
            gives = resolve(gives, trial, free=True)
            if result is None:
                result = gives
                # What is learned holds if it is the only way to read the call.
                first = trial
            elif result != gives:
                result = DYN
        if result is None:
            shown = [str(resolve(type_, self._known)) for type_ in given]
            if any(type_ is ERROR for type_ in given):
                return ERROR
            applied = (
                f"{shown[0]}.({', '.join(shown[1:])})" if expr.target is not None else f"({', '.join(shown)})"
            )
            return self._complain(
                expr.at, f"found no matching overload for '{expr.function}' applied to '{applied}'"
            )
        if len(expr.overloads) == 1:
            self._known = first
        self._check_literal(expr)
        return result

    def _check_literal(self, expr: Call) -> None:
        """Report a text that can never be what it is converted to."""
        check = _TEXTS.get(expr.function)
        if check is None or not isinstance(arg := expr.args[-1], Literal) or not isinstance(arg.value, str):
            return
        if not check(arg.value):
            self._complain(arg.at, f"invalid {expr.function} argument")

    def _optional_select(self, expr: Call) -> Type:
        operand = resolve(self.visit(expr.args[0]), self._known, free=True)
        name = expr.args[1]
        assert isinstance(name, Literal)
        self.visit(name)
        if operand.kind == "optional":
            operand = resolve(operand.params[0], self._known, free=True)
        field_type = self._field(Select(expr.at, expr.args[0], name.value), operand)
        expr.overloads = self._functions["_?._"]
        return types.optional_of(field_type)

    # -- literals with parts, and loops ------------------------------------------------------------------------

    def _joined(self, held: Type | None, item: Type, at: int) -> Type:
        if held is None:
            return item
        if fits(held, item, trial := dict(self._known)):
            self._known = trial
            return (
                DYN
                if is_dynamic(resolve(item, self._known)) and resolve(item, self._known).kind == "dyn"
                else held
            )
        shown = resolve(held, self._known), resolve(item, self._known)
        return self._complain(at, f"expected type '{shown[0]}' but found '{shown[1]}'")

    def _unwrapped(self, type_: Type) -> Type:
        type_ = resolve(type_, self._known, free=True)
        return type_.params[0] if type_.kind == "optional" else type_

    def _list(self, expr: ListExpr) -> Type:
        held: Type | None = None
        for index, item in enumerate(expr.items):
            item_type = self.visit(item)
            if index in expr.optional:
                item_type = self._unwrapped(item_type)
            held = self._joined(held, item_type, item.at)
        return types.list_of(held or types.variable())

    def _map(self, expr: MapExpr) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for key, value, optional in expr.entries:
            keys = self._joined(keys, self.visit(key), key.at)
            value_type = self.visit(value)
            values = self._joined(values, self._unwrapped(value_type) if optional else value_type, value.at)
        return types.map_of(keys or types.variable(), values or types.variable())

    def _struct(self, expr: StructExpr) -> Type:
        type_ = self._objects.get(expr.name)
        if type_ is None:
            for _, value, _, _ in expr.fields:
                self.visit(value)
            return self._complain(expr.at, f"undeclared reference to '{expr.name}' (in container '')")
        for name, value, optional, at in expr.fields:
            given = self.visit(value)
            if optional:
                given = self._unwrapped(given)
            if type_.fields is not None and name not in type_.fields:
                self._complain(at, f"undefined field '{name}'")
            elif type_.fields is not None:
                wanted = type_.fields[name]
                if not fits(wanted, given, trial := dict(self._known)):
                    shown = resolve(given, self._known)
                    self._complain(
                        at, f"expected type of field '{name}' is '{wanted}' but provided type is '{shown}'"
                    )
                else:
                    self._known = trial
        return type_

    def _fold(self, expr: Fold) -> Type:
        over = resolve(self.visit(expr.over), self._known, free=True)
        first: Type = DYN
        second: Type = DYN
        if over.kind == "list":
            first, second = (types.INT, over.params[0]) if expr.second else (over.params[0], DYN)
        elif over.kind == "map":
            first, second = over.params
        elif not is_dynamic(over):
            self._complain(
                expr.over.at,
                f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)",
            )
        accumulated = self.visit(expr.initial)
        self._scopes.append({expr.accumulator: accumulated})
        inner = {expr.variable: first}
        if expr.second:
            inner[expr.second] = second
        self._scopes.append(inner)
        self._expect(types.BOOL, self.visit(expr.condition), expr.condition.at)
        self._expect(accumulated, self.visit(expr.step), expr.step.at)
        self._scopes.pop()
        result = self.visit(expr.result)
        self._scopes.pop()
        return result

    def _expect(self, wanted: Type, given: Type, at: int) -> None:
        if fits(wanted, given, trial := dict(self._known)):
            self._known = trial
        else:
            shown = resolve(wanted, self._known), resolve(given, self._known)
            self._complain(at, f"expected type '{shown[0]}' but found '{shown[1]}'")
