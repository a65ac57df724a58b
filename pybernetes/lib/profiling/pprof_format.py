"""Profiles in the format of pprof, which Go's tools, speedscope and many others read."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pybernetes.lib import protobuf_wire as wire


class Frame(NamedTuple):
    """A place in the code."""

    function: str
    file: str
    line: int


Stack = tuple[Frame, ...]  # the innermost first


def profile(
    samples: Mapping[Stack, Sequence[int]], types: Sequence[tuple[str, str]], seconds: float, moment: float
) -> bytes:
    """Return a profile: values of each stack, of the types (name and unit) in their order."""
    strings: dict[str, int] = {"": 0}
    functions: dict[tuple[str, str], int] = {}
    locations: dict[Frame, int] = {}
    body = []

    def text(value: str) -> int:
        return strings.setdefault(value, len(strings))

    for name, unit in types:
        body.append(_message(1, _number(1, text(name)) + _number(2, text(unit))))
    for stack, values in samples.items():
        ids = [locations.setdefault(frame, len(locations) + 1) for frame in stack]
        body.append(_message(2, _packed(1, ids) + _packed(2, values)))
    for frame, identity in locations.items():
        function = functions.setdefault(frame[:2], len(functions) + 1)
        line = _number(1, function) + _number(2, frame.line)
        body.append(_message(4, _number(1, identity) + _message(4, line)))
    for (name, file), identity in functions.items():
        index = text(name)
        fields = _number(1, identity) + _number(2, index) + _number(3, index) + _number(4, text(file))
        body.append(_message(5, fields))
    body += [_message(6, value.encode()) for value in strings]
    body.append(_number(9, int(moment * 1e9)) + _number(10, int(seconds * 1e9)))
    return gzip.compress(b"".join(body), mtime=0)


def _number(field: int, value: int) -> bytes:
    return wire.number(field << 3) + wire.number(value)


def _message(field: int, data: bytes) -> bytes:
    return wire.number(field << 3 | wire.BYTES) + wire.number(len(data)) + data


def _packed(field: int, values: Iterable[int]) -> bytes:
    return _message(field, b"".join(map(wire.number, values)))
