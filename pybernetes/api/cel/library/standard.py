"""The functions and operators that CEL itself has."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pybernetes.api.cel.library.declare import Library
from pybernetes.api.cel.runtime import (
    SECOND,
    Failure,
    Moment,
    Span,
    TypeValue,
    Uint,
    add_lists,
    equal,
    less,
    type_name,
)
from pybernetes.api.cel.work import look_at
from pybernetes.api.text.regular_expressions import PatternError, compile_pattern

LIBRARY = Library()
_INT = (-(2**63), 2**63 - 1)


def _int(value: int) -> int:
    if not _INT[0] <= value <= _INT[1]:
        raise Failure("integer overflow")
    return value


def _uint(value: int) -> Uint:
    if not 0 <= value < 2**64:
        raise Failure("unsigned integer overflow")
    return Uint(value)


def _divide(dividend: int, divisor: int) -> int:
    if divisor == 0:
        raise Failure("division by zero")
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _modulus(dividend: int, divisor: int) -> int:
    if divisor == 0:
        raise Failure("modulus by zero")
    return (
        int(math.fmod(dividend, divisor))
        if abs(dividend) < 2**53
        else dividend - divisor * _divide(dividend, divisor)
    )


def _divide_double(dividend: float, divisor: float) -> float:
    if divisor:
        return dividend / divisor
    return (
        math.nan
        if dividend == 0 or math.isnan(dividend)
        else math.copysign(math.inf, dividend) * math.copysign(1, divisor)
    )


for _symbol, _word, _do in (
    ("+", "add", operator.add),
    ("-", "subtract", operator.sub),
    ("*", "multiply", operator.mul),
):
    LIBRARY.function(f"_{_symbol}_", f"{_word}_int64", "int int -> int", lambda a, b, do=_do: _int(do(a, b)))
    LIBRARY.function(
        f"_{_symbol}_", f"{_word}_uint64", "uint uint -> uint", lambda a, b, do=_do: _uint(do(int(a), int(b)))
    )
    LIBRARY.function(f"_{_symbol}_", f"{_word}_double", "double double -> double", _do)
LIBRARY.function("_+_", "add_string", "string string -> string", operator.add)
LIBRARY.function("_+_", "add_bytes", "bytes bytes -> bytes", operator.add)
LIBRARY.function("_+_", "add_list", "list(A) list(A) -> list(A)", add_lists)
LIBRARY.function(
    "_+_",
    "add_duration_duration",
    "duration duration -> duration",
    lambda a, b: Span(_int(a.nanos + b.nanos)),
)
LIBRARY.function(
    "_+_", "add_timestamp_duration", "timestamp duration -> timestamp", lambda a, b: Moment(a.nanos + b.nanos)
)
LIBRARY.function(
    "_+_", "add_duration_timestamp", "duration timestamp -> timestamp", lambda a, b: Moment(a.nanos + b.nanos)
)
LIBRARY.function(
    "_-_",
    "subtract_duration_duration",
    "duration duration -> duration",
    lambda a, b: Span(_int(a.nanos - b.nanos)),
)
LIBRARY.function(
    "_-_",
    "subtract_timestamp_timestamp",
    "timestamp timestamp -> duration",
    lambda a, b: Span(a.nanos - b.nanos),
)
LIBRARY.function(
    "_-_",
    "subtract_timestamp_duration",
    "timestamp duration -> timestamp",
    lambda a, b: Moment(a.nanos - b.nanos),
)
LIBRARY.function("_/_", "divide_int64", "int int -> int", lambda a, b: _int(_divide(a, b)))
LIBRARY.function("_/_", "divide_uint64", "uint uint -> uint", lambda a, b: _uint(_divide(int(a), int(b))))
LIBRARY.function("_/_", "divide_double", "double double -> double", _divide_double)
LIBRARY.function("_%_", "modulo_int64", "int int -> int", _modulus)
LIBRARY.function("_%_", "modulo_uint64", "uint uint -> uint", lambda a, b: _uint(_modulus(int(a), int(b))))
LIBRARY.function("-_", "negate_int64", "int -> int", lambda a: _int(-a))
LIBRARY.function("-_", "negate_double", "double -> double", operator.neg)
LIBRARY.function("_==_", "equals", "A A -> bool", equal)
LIBRARY.function("_!=_", "not_equals", "A A -> bool", lambda a, b: not equal(a, b))

_ORDERS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("<", "less", less),
    ("<=", "less_equals", lambda a, b: less(a, b) or a == b),
    (">", "greater", lambda a, b: less(b, a)),
    (">=", "greater_equals", lambda a, b: less(b, a) or a == b),
)
for _symbol, _word, _order in _ORDERS:
    for _kind in ("bool", "int64", "uint64", "double", "string", "bytes", "timestamp", "duration"):
        _name = _kind.removesuffix("64")
        LIBRARY.function(f"_{_symbol}_", f"{_word}_{_kind}", f"{_name} {_name} -> bool", _order)
    for _one, _other in (
        ("int64", "double"),
        ("int64", "uint64"),
        ("uint64", "double"),
        ("uint64", "int64"),
        ("double", "int64"),
        ("double", "uint64"),
    ):
        _takes = f"{_one.removesuffix('64')} {_other.removesuffix('64')}"
        LIBRARY.function(f"_{_symbol}_", f"{_word}_{_one}_{_other}", f"{_takes} -> bool", _order)

# These are evaluated by the engine itself: not all of their arguments are needed.
for _name, _id, _signature in (
    ("_&&_", "logical_and", "bool bool -> bool"), ("_||_", "logical_or", "bool bool -> bool"),
    ("_?_:_", "conditional", "bool A A -> A"), ("@not_strictly_false", "not_strictly_false", "bool -> bool"),
):  # fmt: skip
    LIBRARY.function(_name, _id, _signature, lambda *args: None)
LIBRARY.function("!_", "logical_not", "bool -> bool", operator.not_)


def _index_list(items: list[Any], index: Any) -> Any:
    if isinstance(index, float):
        if not index.is_integer():
            raise Failure("unsupported index type 'double' in list")
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int):
        raise Failure("no such overload")
    if not 0 <= index < len(items):
        raise Failure(f"index out of bounds: {index}")
    return items[index]


def lookup(entries: dict[Any, Any], key: Any) -> Any:
    """Return the value of a key; raise Failure if there is none."""
    try:
        return entries[key]
    except KeyError:
        raise Failure(f"no such key: {key}") from None
    except TypeError:
        raise Failure("no such overload") from None


LIBRARY.function("_[_]", "index_list", "list(A) int -> A", _index_list)
LIBRARY.function("_[_]", "index_map", "map(K,V) K -> V", lookup)
LIBRARY.function(
    "@in", "in_list", "A list(A) -> bool", lambda item, items: any(equal(item, held) for held in items)
)
LIBRARY.function(
    "@in", "in_map", "K map(K,V) -> bool", lambda key, entries: key.__hash__ is not None and key in entries
)


def _insert(entries: dict[Any, Any], *more: Any) -> dict[Any, Any]:
    added = more[0] if len(more) == 1 else {more[0]: more[1]}
    look_at(len(entries) + len(added))
    for key in added:
        if key in entries:
            raise Failure(f"insert failed: key {key} already exists")
    return {**entries, **added}


LIBRARY.function("cel.@mapInsert", "@mapInsert_map_map", "map(K,V) map(K,V) -> map(K,V)", _insert)
LIBRARY.function("cel.@mapInsert", "@mapInsert_map_key_value", "map(K,V) K V -> map(K,V)", _insert)
for _kind in ("string", "bytes", "list(A)", "map(K,V)"):
    _id = _kind.partition("(")[0]
    LIBRARY.function("size", f"size_{_id}", f"{_kind} -> int", len)
    LIBRARY.method("size", f"{_id}_size", f"{_kind} -> int", len)
LIBRARY.method("contains", "contains_string", "string string -> bool", lambda a, b: b in a)
LIBRARY.method("startsWith", "starts_with_string", "string string -> bool", str.startswith)
LIBRARY.method("endsWith", "ends_with_string", "string string -> bool", str.endswith)


def _matches(text: str, pattern: str) -> bool:
    try:
        return compile_pattern(pattern).search(text) is not None
    except PatternError as error:
        raise Failure(str(error)) from None


LIBRARY.function("matches", "matches", "string string -> bool", _matches)
LIBRARY.method("matches", "matches_string", "string string -> bool", _matches)

# -- conversions -----------------------------------------------------------------------------------------------


def _whole(value: float, check: Callable[[int], int]) -> int:
    if math.isnan(value) or math.isinf(value):
        raise Failure("integer overflow")
    return check(int(value))


def _parse_int(text: str, check: Callable[[int], int], name: str) -> int:
    try:
        if not text or "_" in text or text != text.strip():
            raise ValueError
        return check(int(text))
    except ValueError:
        raise Failure(f"type conversion error from 'string' to '{name}'") from None


def _parse_double(text: str) -> float:
    try:
        if "_" in text or text != text.strip():
            raise ValueError
        return float(text)
    except ValueError:
        raise Failure("type conversion error from 'string' to 'double'") from None


def double_text(value: float) -> str:
    """Return a number as Go's shortest form writes it."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    text = repr(value)
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa.removesuffix('.0')}e{exponent}"
    return text.removesuffix(".0")


def _parse_bool(text: str) -> bool:
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise Failure("type conversion error from 'string' to 'bool'")


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Failure("invalid UTF-8 in bytes, cannot convert to string") from None


def _parsed(parse: Callable[[str], Any], name: str) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError:
            raise Failure(f"type conversion error from 'string' to '{name}'") from None

    return convert


_same: Callable[[Any], Any] = lambda value: value  # noqa: E731
_CONVERSIONS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "int": {"int": _same, "uint": lambda v: _int(int(v)), "double": lambda v: _whole(v, _int),
            "string": lambda v: _parse_int(v, _int, "int"), "timestamp": lambda v: v.nanos // SECOND,
            "duration": lambda v: v.nanos},
    "uint": {"uint": _same, "int": _uint, "double": lambda v: _whole(v, _uint),
             "string": lambda v: _parse_int(v, _uint, "uint")},
    "double": {"double": _same, "int": float, "uint": float, "string": _parse_double},
    "string": {"string": _same, "int": str, "uint": lambda v: str(int(v)), "double": double_text,
               "bool": lambda v: "true" if v else "false", "bytes": _text, "timestamp": str, "duration": str},
    "bytes": {"bytes": _same, "string": str.encode},
    "bool": {"bool": _same, "string": _parse_bool},
    "timestamp": {"timestamp": _same, "int": lambda v: Moment(v * SECOND), "string": _parsed(Moment.parse, "google.protobuf.Timestamp")},
    "duration": {"duration": _same, "int": Span, "string": _parsed(Span.parse, "google.protobuf.Duration")},
}  # fmt: skip
for _to, _sources in _CONVERSIONS.items():
    for _from, _convert in _sources.items():
        LIBRARY.function(_to, f"{_from}_to_{_to}", f"{_from} -> {_to}", _convert)
LIBRARY.function("dyn", "to_dyn", "A -> dyn", _same)
LIBRARY.function("type", "type", "A -> type", lambda value: TypeValue(type_name(value)))

# -- parts of times --------------------------------------------------------------------------------------------


def _zone(name: str) -> Any:
    from datetime import timedelta, timezone

    if name[:1] in ("+", "-") or name[:1].isdigit():
        hours, _, minutes = name.lstrip("+-").partition(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-offset if name[0] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise Failure(f"unknown time zone {name}") from None


_PARTS: dict[str, Callable[[Any], int]] = {
    "getFullYear": lambda t: t.year, "getMonth": lambda t: t.month - 1, "getDate": lambda t: t.day,
    "getDayOfMonth": lambda t: t.day - 1, "getDayOfWeek": lambda t: (t.weekday() + 1) % 7,
    "getDayOfYear": lambda t: t.timetuple().tm_yday - 1, "getHours": lambda t: t.hour,
    "getMinutes": lambda t: t.minute, "getSeconds": lambda t: t.second,
    "getMilliseconds": lambda t: t.microsecond // 1000,
}  # fmt: skip
for _name, _part in _PARTS.items():
    LIBRARY.method(
        _name, f"timestamp_to_{_name}", "timestamp -> int", lambda t, part=_part: part(t.datetime())
    )
    LIBRARY.method(
        _name,
        f"timestamp_to_{_name}_with_tz",
        "timestamp string -> int",
        lambda t, z, part=_part: part(t.datetime(_zone(z))),
    )
for _name, _unit in (("getHours", 3600 * SECOND), ("getMinutes", 60 * SECOND), ("getSeconds", SECOND)):
    LIBRARY.method(
        _name, f"duration_to_{_name}", "duration -> int", lambda d, unit=_unit: _divide(d.nanos, unit)
    )
LIBRARY.method(
    "getMilliseconds", "duration_to_milliseconds", "duration -> int", lambda d: _divide(d.nanos, 10**6)
)
