"""What the functions of Kubernetes' libraries may cost at most, and how large their results may be."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isinf
from typing import NamedTuple

from pybernetes.api.cel import cost
from pybernetes.api.cel.tree import Expr, Literal
from pybernetes.api.cel.types import Type

MOST = 2**64 - 1
Path = tuple[str, ...]


class Range(NamedTuple):
    """From the least to the most: of a size or of a cost."""

    least: int
    most: int

    def add(self, other: Range) -> Range:
        """Return the sum."""
        return Range(min(MOST, self.least + other.least), min(MOST, self.most + other.most))

    def times(self, other: Range) -> Range:
        """Return the product."""
        return Range(min(MOST, self.least * other.least), min(MOST, self.most * other.most))

    def scaled(self, factor: float) -> Range:
        """Return the product with a factor, rounded up."""
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: Range) -> Range:
        """Return what covers both."""
        return Range(min(self.least, other.least), max(self.most, other.most))


def _scaled(value: int, factor: float) -> int:
    product = float(value) * factor
    return MOST if isinf(product) or product >= 2**64 else ceil(product)


ONE, NOTHING, UNKNOWN = Range(1, 1), Range(0, 0), Range(0, MOST)


class Node(NamedTuple):
    """An argument, as functions judge it."""

    expr: Expr | None
    type: Type
    path: Path
    size: Range | None


_NOMINAL = frozenset({
    "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error",
    "errored", "masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast",
    "isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger", "asApproximateFloat",
    "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch", "getScheme", "getHostname",
    "getHost", "getPort", "getEscapedPath", "getQuery",
})  # fmt: skip
_PARSED = frozenset({"cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"})
_LISTED = frozenset({"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"})
_ADDRESS = Range(4, 16)
_LONGEST_FORMAT = 128
_LONGEST_NAME = 64


def library_cost(
    name: str, identifier: str, target: Node | None, args: list[Node], size: Callable[[Node], Range]
) -> tuple[Range, Range | None] | None:
    """Return the cost of a function of Kubernetes' libraries and the size of its result; None if it is none of them."""
    factor = cost.TRAVERSAL
    if name in _NOMINAL or identifier == "cidr_ip":
        return ONE, None
    if name == "check":
        return Range(cost.CHECK, cost.CHECK), None
    if name in ("fieldSelector", "labelSelector"):
        length = size(args[0])
        base = Range(cost.LIST, cost.LIST).add(length.scaled(factor))
        return base.add(length.scaled(0.5).scaled(float(cost.LIST + cost.STRUCT))), None
    if name in _LISTED and target is not None:
        return _of_items(name, target, size)
    if name in ("url", "jsonpatch.escapeKey"):
        return size(args[0]).scaled(factor), size(args[0])
    if name in ("lowerAscii", "upperAscii", "substring", "trim") and target is not None:
        return size(target).scaled(factor), size(target)
    if name == "replace" and target is not None:
        return size(target).scaled(2 * factor), _replaced(size(target), size(args[0]), size(args[1]))
    if name == "split" and target is not None:
        most = size(target).most
        if len(args) > 1 and isinstance(args[1].expr, Literal) and isinstance(args[1].expr.value, int):
            most = args[1].expr.value % 2**64
        return size(target).scaled(2 * factor), Range(0, most)
    if name == "join" and target is not None:
        made = _joined(target, args, size)
        return made.scaled(factor), made
    if name in ("find", "findAll") and target is not None:
        text = size(target).add(ONE).scaled(factor)
        return text.times(size(args[0]).scaled(cost.REGEX)), Range(0, size(target).most)
    if name in _PARSED or name == "ip":
        return size(args[0]).scaled(factor), None
    if name == "ip.isCanonical":
        return size(args[0]).scaled(2 * factor), None
    if name in ("containsIP", "containsCIDR"):
        total = _ADDRESS.add(_ADDRESS).scaled(factor)
        if name == "containsCIDR":
            total = total.add(_ADDRESS.scaled(factor)).add(ONE)
        if identifier.endswith("_string"):
            total = total.add(size(args[0]).scaled(factor))
        return total, None
    if name.startswith("sets."):
        product = size(args[0]).times(size(args[1]))
        return (product.add(product) if name == "sets.equivalent" else product).add(ONE), None
    if name == "validate":
        return size(args[0]).scaled(factor).scaled(_LONGEST_FORMAT * cost.REGEX), None
    if name == "_==_" and args[0].type.kind == "opaque" and args[0].type == args[1].type:
        named = args[0].type.name == "kubernetes.NamedFormat"
        return Range(1, _LONGEST_NAME).scaled(factor) if named else ONE, None
    return None


def _item(node: Node) -> Node | None:
    if not node.type.params:
        return None
    return Node(None, node.type.params[0], (*node.path, "@items") if node.path else (), None)


def _of_items(name: str, target: Node, size: Callable[[Node], Range]) -> tuple[Range, Range | None]:
    item = _item(target)
    if item is None:
        return size(target).times(ONE) if name == "includes" else size(target).scaled(cost.TRAVERSAL), None
    item_cost = ONE
    if item.type.kind in ("string", "bytes"):
        item_cost = item_cost.add(size(item).scaled(cost.TRAVERSAL))
    return size(target).times(item_cost), None


def _joined(target: Node, args: list[Node], size: Callable[[Node], Range]) -> Range:
    count, item = size(target), _item(target)
    made = count.times(size(item)) if item is not None else NOTHING
    if args:
        between = Range(max(0, count.least - 1), max(0, count.most - 1))
        made = made.add(size(args[0]).times(between))
    return made


def _replaced(text: Range, old: Range, new: Range) -> Range:
    count_most = count_least = kept_most = kept_least = 0
    if old.least == 0:
        count_most, kept_most = min(MOST, text.most + 1), text.most
    elif new.most <= old.least:
        kept_most = text.most
    else:
        count_most = ceil(float(text.most) / old.least)
    if old.most == 0:
        count_least, kept_least = min(MOST, text.least + 1), text.least
    elif old.most <= new.least:
        kept_least = text.least
    else:
        count_least = ceil(float(text.least) / old.most)
    return Range(count_least, count_most).times(new).add(Range(kept_least, kept_most))
