"""The values of expressions: Python's own where they fit, and classes for the rest. Comparison and kinds."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from pybernetes.api.cel.work import CHARACTERS, look_at

SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Failure(Exception):
    """The evaluation of an expression failed."""


def succeeds(parse: Callable[[str], object], failure: type[Exception]) -> Callable[[str], bool]:
    """Return a function that tells whether a text can be parsed."""

    def check(text: str) -> bool:
        try:
            parse(text)
        except failure:
            return False
        return True

    return check


class Uint(int):
    """An unsigned number."""

    __slots__ = ()


@functools.total_ordering
class Moment:
    """A timestamp, in nanoseconds since 1970."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        self.nanos = nanos

    @classmethod
    def parse(cls, text: str) -> Moment:
        """Return a timestamp in RFC 3339; raise ValueError if it is none."""
        match = _RFC3339.fullmatch(text)
        if match is None:
            raise ValueError(text)
        base = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
        seconds = (base - _EPOCH) // timedelta(seconds=1)
        fraction = int((match[2] or "").ljust(9, "0")[:9] or "0")
        zone = match[3]
        if zone not in ("Z", "z"):
            offset = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
            seconds -= offset if zone[0] == "+" else -offset
        return cls(seconds * SECOND + fraction)

    def datetime(self, zone: Any = UTC) -> datetime:
        """Return the timestamp as a datetime, without what is shorter than a microsecond."""
        return (_EPOCH + timedelta(microseconds=self.nanos // 1000)).astimezone(zone)

    def __str__(self) -> str:
        seconds, nanos = divmod(self.nanos, SECOND)
        text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{text}.{nanos:09d}".rstrip("0") + "Z" if nanos else f"{text}Z"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moment) and self.nanos == other.nanos

    def __lt__(self, other: Moment) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)


_RFC3339 = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})")
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}  # fmt: skip
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


@functools.total_ordering
class Span:
    """A duration, in nanoseconds."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        self.nanos = nanos

    @classmethod
    def parse(cls, text: str) -> Span:
        """Return a duration as Go writes it; raise ValueError if it is none."""
        body = text[1:] if text[:1] in ("-", "+") else text
        if body == "0":
            return cls(0)
        parts = _DURATION.findall(body)
        if not parts or "".join(number + unit for number, unit in parts) != body:
            raise ValueError(text)
        nanos = 0
        for number, unit in parts:
            whole, _, fraction = number.partition(".")
            nanos += int(whole or "0") * _UNITS[unit]
            if fraction:
                nanos += int(fraction) * _UNITS[unit] // 10 ** len(fraction)
        return cls(-nanos if text[0] == "-" else nanos)

    def __str__(self) -> str:
        seconds, nanos = divmod(abs(self.nanos), SECOND)
        text = f"{seconds}.{nanos:09d}".rstrip("0") if nanos else str(seconds)
        return f"{'-' if self.nanos < 0 else ''}{text}s"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self.nanos == other.nanos

    def __lt__(self, other: Span) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)


class Optional:
    """A value that may be missing."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def present(self) -> bool:
        """Whether there is a value."""
        return self is not NONE

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Optional):
            return False
        if self is NONE or other is NONE:
            return self is other
        return equal(self.value, other.value)

    def __hash__(self) -> int:
        return hash(id(self))


NONE = Optional(None)


class TypeValue:
    """A type as a value: what ``type(x)`` gives."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class Struct(dict[str, Any]):
    """An object that an expression made, with the name of its type."""

    __slots__ = ("name",)

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.name = name


class SetList(list[Any]):
    """A list that is a set: its order means nothing, and adding does not repeat."""

    __slots__ = ()


class MapList(list[Any]):
    """A list that is a map: its objects are identified by their keys."""

    __slots__ = ("keys",)

    def __init__(self, items: list[Any], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key(self, item: Any) -> Any:
        """Return what identifies an item."""
        return tuple(key_of(item.get(key)) for key in self.keys)


_KINDS: dict[type, str] = {
    bool: "bool", int: "int", Uint: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null",
    list: "list", dict: "map", SetList: "list", MapList: "list", Moment: "timestamp", Span: "duration",
    Optional: "optional", TypeValue: "type", Struct: "object",
}  # fmt: skip
_TYPE_NAMES = {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "optional": "optional_type"}  # fmt: skip


def kind_of(value: Any) -> str:
    """Return the kind of a value; for a class of a library, its name."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    return getattr(value, "cel_name", None) or ("map" if isinstance(value, dict) else "list")


def type_name(value: Any) -> str:
    """Return the name of a value's type."""
    if isinstance(value, Struct):
        return value.name
    kind = kind_of(value)
    return _TYPE_NAMES.get(kind, kind)


_NUMBERS = (int, float)


def equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal; values of different types are not, except for numbers."""
    kind, other_kind = type(left), type(right)
    if kind is other_kind and kind in (str, int, bool, bytes, float):
        if (kind is str or kind is bytes) and len(left) >= CHARACTERS:
            look_at(len(left) // CHARACTERS)
        return bool(left == right)
    if isinstance(left, bool) or isinstance(right, bool):
        return kind is other_kind and left == right
    if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return _equal_lists(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        look_at(len(left))
        return len(left) == len(right) and all(
            key in right and equal(value, right[key]) for key, value in left.items()
        )
    return bool(left == right)


def key_of(value: Any) -> Any:
    """Return something hashable that is the same for equal values, so that large lists are compared in a moment."""
    kind = type(value)
    if kind is str or kind is bytes:
        if len(value) >= CHARACTERS:
            look_at(len(value) // CHARACTERS)
        return value
    if kind is bool or value is None:
        return (kind, value)
    if isinstance(value, _NUMBERS):
        return ("number", value)
    if isinstance(value, list):
        look_at(len(value))
        return tuple(map(key_of, value))
    if isinstance(value, dict):
        look_at(len(value))
        return frozenset((key, key_of(item)) for key, item in value.items())
    return value


def _equal_lists(left: list[Any], right: list[Any]) -> bool:
    if len(left) != len(right):
        return False
    look_at(len(left))
    if isinstance(left, SetList) or isinstance(right, SetList):
        return {*map(key_of, right)}.issuperset(map(key_of, left))
    keyed = left if isinstance(left, MapList) else right if isinstance(right, MapList) else None
    if keyed is not None:
        by_key = {keyed.key(item): item for item in right}
        return all(keyed.key(item) in by_key and equal(item, by_key[keyed.key(item)]) for item in left)
    return all(map(equal, left, right))


def add_lists(left: list[Any], right: list[Any]) -> list[Any]:
    """Return both lists as one; sets do not repeat, and objects of maps are merged."""
    look_at(len(left) + len(right))
    if isinstance(left, SetList):
        held = {*map(key_of, left)}
        return SetList(left + [item for item in right if key_of(item) not in held])
    if isinstance(left, MapList):
        places = {left.key(item): index for index, item in enumerate(left)}
        result = list(left)
        for item in right:
            place = places.get(left.key(item))
            if place is None:
                result.append(item)
            else:
                result[place] = {**result[place], **item}
        return MapList(result, left.keys)
    return [*left, *right]


def less(left: Any, right: Any) -> bool:
    """Return whether a value comes before another; Failure if they have no order."""
    try:
        return bool(left < right)
    except TypeError:
        raise Failure("no such overload") from None


def size(value: Any) -> int:
    """Return how long a value is; 1 for what has no length."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, Optional) and value.present:
        return size(value.value)
    sized: Callable[[], int] | None = getattr(value, "cel_size", None)
    return sized() if sized is not None else 1
