"""What it costs to evaluate: units that grow with the sizes of arguments, the same as upstream counts.

An expression that costs more than its limit is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from pybernetes.api.cel.runtime import size
from pybernetes.api.cel.work import CHARACTERS, look_at

PER_CALL_LIMIT = 1_000_000
BUDGET = 10_000_000
CONDITIONS_BUDGET = 2_500_000
# Reading a name or a field; making a list, a map, an object.
LIST, MAP, STRUCT = 10, 30, 40
TRAVERSAL, REGEX = 0.1, 0.25
CHECK = 350_000  # so that two questions to the authorizers fit into an expression
Cost = Callable[[tuple[Any, ...], Any], int]


def traversal(value: Any) -> int:
    """Return what it costs to look at all of a value."""
    if isinstance(value, str | bytes):
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        look_at(len(value))
        return sum(map(traversal, value))
    if isinstance(value, dict):
        look_at(len(value))
        return sum(traversal(key) + traversal(item) for key, item in value.items())
    return 1


def _first(factor: float) -> Cost:
    return lambda args, result: ceil(size(args[0]) * factor)


def _smaller(args: tuple[Any, ...], result: Any) -> int:
    return ceil(min(size(args[0]), size(args[1])) * TRAVERSAL)


def _regex(args: tuple[Any, ...], result: Any) -> int:
    return ceil((1 + size(args[0])) * TRAVERSAL) * ceil(size(args[1]) * REGEX)


def selector(length: int) -> int:
    """Return what it costs to read a selector."""
    return LIST + ceil(length * TRAVERSAL) + ceil(ceil(length * 0.5) * (LIST + STRUCT))


def _contains_ip(extra: int, parses: bool) -> Cost:
    def cost(args: tuple[Any, ...], result: Any) -> int:
        network = size(args[0])
        total = ceil(2 * network * TRAVERSAL)
        if extra:
            total += ceil(network * TRAVERSAL) + extra
        return total + (ceil(size(args[1]) * TRAVERSAL) if parses else 0)

    return cost


def _format(args: tuple[Any, ...], result: Any) -> int:
    return ceil((1 + size(args[1])) * TRAVERSAL) * ceil(args[0].size * REGEX)


def _equal(args: tuple[Any, ...], result: Any) -> int:
    return 1 if hasattr(args[0], "cel_name") else _smaller(args, result)


_BY_ID: dict[str, Cost | None] = {
    "starts_with_string": lambda args, result: ceil(size(args[1]) * TRAVERSAL),
    "ends_with_string": lambda args, result: ceil(size(args[1]) * TRAVERSAL),
    "string_to_bytes": _first(TRAVERSAL),
    "bytes_to_string": _first(TRAVERSAL),
    "strings_quote": _first(TRAVERSAL),
    "string_format": _first(TRAVERSAL),
    "in_list": lambda args, result: size(args[1]),
    "equals": _equal,
    "not_equals": _smaller,
    "add_string": lambda args, result: ceil((size(args[0]) + size(args[1])) * TRAVERSAL),
    "add_bytes": lambda args, result: ceil((size(args[0]) + size(args[1])) * TRAVERSAL),
    "matches": _regex,
    "matches_string": _regex,
    "contains_string": lambda args, result: ceil(size(args[0]) * TRAVERSAL) * ceil(size(args[1]) * TRAVERSAL),
    "cidr_ip": None,
    "cidr_contains_ip_string": _contains_ip(0, True),
    "cidr_contains_ip_ip": _contains_ip(0, False),
    "cidr_contains_cidr_string": _contains_ip(1, True),
    "cidr_contains_cidr": _contains_ip(1, False),
}
for _word in ("less", "less_equals", "greater", "greater_equals"):
    for _kind in ("string", "bytes"):
        _BY_ID[f"{_word}_{_kind}"] = _smaller


def _all_of_first(args: tuple[Any, ...], result: Any) -> int:
    return traversal(args[0])


_BY_NAME: dict[str, Cost] = {
    "check": lambda args, result: CHECK,
    "fieldSelector": lambda args, result: selector(size(args[1])),
    "labelSelector": lambda args, result: selector(size(args[1])),
    "join": lambda args, result: ceil(size(result) * 2 * TRAVERSAL),
    "find": _regex,
    "findAll": _regex,
    "validate": _format,
    "replace": _first(2 * TRAVERSAL),
    "split": _first(2 * TRAVERSAL),
    "ip.isCanonical": _first(2 * TRAVERSAL),
}
for _name in ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"):
    _BY_NAME[_name] = _all_of_first
for _name in (
    "url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey", "cidr", "isIP", "isCIDR", "ip",
    "quantity", "isQuantity", "semver", "isSemver",
):  # fmt: skip
    _BY_NAME[_name] = _first(TRAVERSAL)
for _name in ("sets.contains", "sets.intersects"):
    _BY_NAME[_name] = lambda args, result: 1 + size(args[0]) * size(args[1])
_BY_NAME["sets.equivalent"] = lambda args, result: 1 + 2 * size(args[0]) * size(args[1])
# Of these upstream has no estimate of its own; what they do grows with their lists.
for _name in ("sort", "distinct", "flatten", "reverse", "slice", "optional.unwrap", "unwrapOpt"):
    _BY_NAME[_name] = lambda args, result: LIST + size(args[0])
_BY_NAME["distinct"] = lambda args, result: LIST + size(args[0]) * max(1, size(result))
_BY_NAME["lists.range"] = lambda args, result: LIST + size(result)


def _texts(args: tuple[Any, ...], result: Any) -> int:
    for value in args:
        if isinstance(value, str | bytes) and len(value) >= CHARACTERS:
            look_at(len(value) // CHARACTERS)
    return 1


def of_call(name: str, identifier: str, texts: bool = False) -> Cost | None:
    """Return what a call of an overload, which may take ``texts``, costs; None means 1."""
    price = _BY_ID[identifier] if identifier in _BY_ID else _BY_NAME.get(name)
    return _texts if price is None and texts else price
