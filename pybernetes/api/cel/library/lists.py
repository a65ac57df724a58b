"""Functions on lists and sets, and values that may be missing."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from pybernetes.api.cel.library.declare import Library
from pybernetes.api.cel.library.standard import lookup
from pybernetes.api.cel.runtime import (
    NONE,
    Failure,
    Moment,
    Optional,
    Span,
    Struct,
    Uint,
    equal,
    key_of,
    less,
)
from pybernetes.api.cel.work import look_at

LIBRARY = Library()
_COMPARABLE = ("int", "uint", "double", "bool", "string", "bytes", "duration", "timestamp")
_ZERO: dict[str, Any] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Span(0)}
_method, _function = LIBRARY.method, LIBRARY.function


def _is_sorted(items: list[Any]) -> bool:
    return not any(less(b, a) for a, b in pairwise(items))


def _sum(zero: Any) -> Any:
    def add(items: list[Any]) -> Any:
        if isinstance(zero, Span):
            return Span(sum(item.nanos for item in items))
        return type(zero)(sum(items, zero))

    return add


def _best(name: str, largest: bool) -> Any:
    def find(items: list[Any]) -> Any:
        if not items:
            raise Failure(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if less(best, item) if largest else less(item, best):
                best = item
        return best

    return find


for _kind in _COMPARABLE:
    _takes = f"list({_kind})"
    _method("isSorted", f"list_{_kind}_is_sorted_bool", f"{_takes} -> bool", _is_sorted)
    _method("min", f"list_{_kind}_min_{_kind}", f"{_takes} -> {_kind}", _best("min", False))
    _method("max", f"list_{_kind}_max_{_kind}", f"{_takes} -> {_kind}", _best("max", True))
    _method("sort", f"list_{_kind}_sort", f"{_takes} -> {_takes}", lambda items: _sorted(items))
for _kind, _zero in _ZERO.items():
    _method("sum", f"list_{_kind}_sum_{_kind}", f"list({_kind}) -> {_kind}", _sum(_zero))


def _order(left: Any, right: Any) -> int:
    return -1 if less(left, right) else 1 if less(right, left) else 0


def _sorted(items: list[Any]) -> list[Any]:
    return sorted(items, key=cmp_to_key(_order))


def _place(items: list[Any], wanted: Any) -> int:
    return next((index for index, item in enumerate(items) if equal(item, wanted)), -1)


def _last_place(items: list[Any], wanted: Any) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if equal(items[index], wanted)), -1)


def _includes(target: Any, wanted: Any) -> bool:
    return _place(target, wanted) >= 0 if isinstance(target, list) else equal(target, wanted)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise Failure(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise Failure(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise Failure(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise Failure("level must be non-negative")
    flat: list[Any] = []
    look_at(len(items))
    for item in items:
        if isinstance(item, list) and depth > 0:
            flat += _flatten(item, depth - 1)
        else:
            flat.append(item)
    return flat


def _distinct(items: list[Any]) -> list[Any]:
    return list({key_of(item): item for item in reversed(items)}.values())[::-1]


def _range(count: int) -> list[int]:
    look_at(max(0, count))
    return list(range(count))


_method("indexOf", "list_a_index_of_int", "list(A) A -> int", _place)
_method("lastIndexOf", "list_a_last_index_of_int", "list(A) A -> int", _last_place)
_method("includes", "includes", "dyn dyn -> bool", _includes)
_method("slice", "list_slice", "list(A) int int -> list(A)", _slice)
_method("flatten", "list_flatten", "list(list(A)) -> list(A)", _flatten)
_method("flatten", "list_flatten_int", "list(dyn) int -> list(dyn)", _flatten)
_method("distinct", "list_distinct", "list(A) -> list(A)", _distinct)
_method("reverse", "list_reverse", "list(A) -> list(A)", lambda items: items[::-1])
_function("lists.range", "lists_range", "int -> list(int)", _range)


def _contains(items: list[Any], wanted: list[Any]) -> bool:
    return {*map(key_of, items)}.issuperset(map(key_of, wanted))


def _intersects(left: list[Any], right: list[Any]) -> bool:
    return not {*map(key_of, left)}.isdisjoint(map(key_of, right))


_function("sets.contains", "list_sets_contains_list", "list(A) list(A) -> bool", _contains)
_function(
    "sets.equivalent",
    "list_sets_equivalent_list",
    "list(A) list(A) -> bool",
    lambda a, b: _contains(a, b) and _contains(b, a),
)
_function(
    "sets.intersects",
    "list_sets_intersects_list",
    "list(A) list(A) -> bool",
    _intersects,
)

# -- optional values ---------------------------------------------------------------------------------------------


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise Failure("optional.none() dereference")
    return optional.value


def is_zero(value: Any) -> bool:
    """Return whether a value is the zero of its type."""
    if isinstance(value, Moment):
        return value.nanos == -62135596800 * 10**9
    if isinstance(value, Span):
        return value.nanos == 0
    if isinstance(value, Optional):
        return not value.present
    return value is None or value == 0 or (isinstance(value, str | bytes | list | dict) and not value)


def optional_field(value: Any, name: Any) -> Optional:
    """Return the value of a field that may be missing, of something that may be missing."""
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value
    if isinstance(value, dict | Struct):
        return Optional(value[name]) if name in value else NONE
    raise Failure("no such overload")


def _optional_index(value: Any, index: Any) -> Optional:
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value
    try:
        if isinstance(value, list):
            return Optional(value[index]) if isinstance(index, int) and 0 <= index < len(value) else NONE
        return Optional(lookup(value, index))
    except Failure:
        return NONE


_function("optional.of", "optional_of", "A -> optional(A)", Optional)
_function("optional.none", "optional_none", " -> optional(A)", lambda: NONE)
_function(
    "optional.ofNonZeroValue",
    "optional_ofNonZeroValue",
    "A -> optional(A)",
    lambda value: NONE if is_zero(value) else Optional(value),
)
_function(
    "optional.unwrap",
    "optional_unwrap",
    "list(optional(A)) -> list(A)",
    lambda items: [item.value for item in items if item.present],
)
_method(
    "unwrapOpt",
    "optional_unwrapOpt",
    "list(optional(A)) -> list(A)",
    lambda items: [item.value for item in items if item.present],
)
_method("hasValue", "optional_hasValue", "optional(A) -> bool", lambda optional: optional.present)
_method("value", "optional_value", "optional(A) -> A", _value)
_method(
    "or", "optional_or_optional", "optional(A) optional(A) -> optional(A)", lambda a, b: a if a.present else b
)
_method("orValue", "optional_orValue_value", "optional(A) A -> A", lambda a, b: a.value if a.present else b)
_method("first", "list_first", "list(A) -> optional(A)", lambda items: Optional(items[0]) if items else NONE)
_method("last", "list_last", "list(A) -> optional(A)", lambda items: Optional(items[-1]) if items else NONE)
_function("_?._", "select_optional_field", "dyn string -> optional(A)", optional_field)
for _id, _signature in (
    ("list_optindex_optional_int", "list(A) int -> optional(A)"),
    ("optional_list_optindex_optional_int", "optional(list(A)) int -> optional(A)"),
    ("map_optindex_optional_value", "map(K,V) K -> optional(V)"),
    ("optional_map_optindex_optional_value", "optional(map(K,V)) K -> optional(V)"),
):
    _function("_[?_]", _id, _signature, _optional_index)
_function("_[_]", "optional_list_index_int", "optional(list(A)) int -> optional(A)", _optional_index)
_function("_[_]", "optional_map_index_value", "optional(map(K,V)) K -> optional(V)", _optional_index)
