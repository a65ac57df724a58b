"""The body of a request as a JSON value, from JSON, YAML or protobuf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pybernetes.api import errors, protobuf
from pybernetes.api.schema import places
from pybernetes.api.schema.decode import count_keys
from pybernetes.api.schema.places import Place
from pybernetes.api.text import go_format, json_reader
from pybernetes.control_plane.apiserver.codec.negotiation import OFFERED
from pybernetes.control_plane.apiserver.request import Request

_KEY = re.compile(rb'"\s*:')
_SUMMARY = 30
_TOO_MANY = f"limit is {json_reader.MAX_VALUES} fields and lists"


class Body:
    """A decoded body.

    ``problem`` tells why there is no value and ``place`` where, ``repeated`` the keys that a YAML text has twice.
    """

    __slots__ = ("_value", "place", "problem", "raw", "repeated", "text")

    def __init__(
        self,
        value: Any,
        raw: bytes,
        *,
        text: bool = True,
        problem: str = "",
        place: str = "",
        repeated: tuple[str, ...] = (),
    ) -> None:
        self._value, self.raw, self.text, self.problem, self.repeated = value, raw, text, problem, repeated
        self.place = place

    @property
    def value(self) -> Any:
        """The value; 400 if there is none."""
        if self.problem:
            raise errors.bad_request(self.problem)
        return self._value

    def summary(self) -> str:
        """Return the first bytes, for an error to show."""
        if not self.raw:
            return "<empty>"
        start, more = self.raw[:_SUMMARY], " ..." if len(self.raw) > _SUMMARY else ""
        return (start.decode("utf-8", "replace") if start[:1] == b"{" else start.hex()) + more

    def complaints(self, keys: int, unknown: list[Place]) -> list[str]:
        """Return complaints about fields that are there twice or are ``unknown``; ``keys`` is how many the decoded value has.

        Text with no more key marks than the value has keys has no duplicate, which spares the slow parse.
        """
        if self.text and len(_KEY.findall(self.raw)) != keys:
            return _complaints(self.raw, unknown)
        return [*self.repeated, *(f"unknown field {go_format.quote(path)}" for path in places.texts(unknown))]


class _Pairs(list[tuple[str, Any]]):
    """An object's members in order, as opposed to an array."""


def _pairs(members: list[tuple[str, Any]]) -> _Pairs:
    # In Python, because this is where other threads get their turn while a large text is parsed.
    return _Pairs(members)


def _complaints(raw: bytes, unknown: list[Place]) -> list[str]:
    """Return unknown and duplicate fields in the order of the text; nobody looks into what is unknown."""
    import json

    # Numbers are not read: only keys count here, and numbers can have any length.
    value = json.loads(
        raw.decode("utf-8", "replace"), object_pairs_hook=_pairs, parse_int=len, parse_float=len
    )
    tree: dict[Any, Any] = {}
    for place in unknown:
        node = tree
        for step in places.steps(place):
            node = node.setdefault(step, {})
    found: dict[str, str] = {}
    size = 0
    for place, sort in _walk(value, None, tree):
        where = places.text(place)
        found[where] = f"{sort} field {go_format.quote(where)}"
        size += len(where)
        if len(found) == places.MAX_COMPLAINTS or size > places.MAX_BYTES:
            break
    return list(found.values())


_NONE: dict[Any, Any] = {}


def _walk(value: Any, place: Place, unknown: dict[Any, Any]) -> Iterator[tuple[Place, str]]:
    """Yield the fields that are there twice or are unknown, of which there is a tree."""
    if type(value) is _Pairs:
        seen: dict[str, bool] = {}
        for key, item in value:
            node = unknown.get(key)
            if node is not None and not node:
                yield (place, key), "unknown"
                continue
            if seen.get(key):  # a second time is told once
                seen[key] = False
                yield (place, key), "duplicate"
            seen.setdefault(key, True)
            if type(item) in (_Pairs, list):
                yield from _walk(item, (place, key), node or _NONE)
    elif type(value) is list:
        for index, item in enumerate(value):
            if type(item) in (_Pairs, list):
                yield from _walk(item, (place, index), unknown.get(index) or _NONE)


def read_body(request: Request, default: tuple[str, str, str] = ("", "v1", "")) -> Body:
    """Return the body of a request; 415 for another media type, 413 for more values than any object has.

    ``default`` is the group, version and kind of a protobuf body that does not say.
    """
    given = request.header(b"content-type")
    media = given.partition(";")[0].strip().lower() or "application/json"
    if media == protobuf.MEDIA_TYPE:
        try:
            return Body(protobuf.decode(request.body, default), request.body, text=False)
        except protobuf.ProtobufError as error:
            return Body(None, request.body, text=False, problem=str(error))
    if media not in OFFERED:
        raise errors.unsupported_media_type((*OFFERED, protobuf.MEDIA_TYPE))
    return parse_body(request.body, "yaml" in media)


def parse_body(raw: bytes, is_yaml: bool) -> Body:
    """Return the JSON or YAML text of a request as a JSON value; 413 for one of more values than any object has."""
    if json_reader.has_too_many_values(raw):
        raise errors.too_large(_TOO_MANY)
    return _parse(raw, is_yaml)


def parse_answer(raw: bytes, is_yaml: bool) -> Body:
    """Return the text of somebody's answer as a JSON value; one of too many values is a problem of theirs."""
    if json_reader.has_too_many_values(raw):
        return Body(None, raw, problem=_TOO_MANY)
    return _parse(raw, is_yaml)


def _parse(raw: bytes, is_yaml: bool) -> Body:
    if is_yaml:
        return _parse_yaml(raw)
    try:
        return Body(json_reader.loads(raw), raw)
    except json_reader.JsonError as error:
        problem = f"couldn't get version/kind; json parse error: {error.plain}"
        return Body(None, raw, problem=problem, place=error.place)


def _parse_yaml(raw: bytes) -> Body:
    if raw[:1] == b"{":  # JSON is YAML too, and quicker to read, unless a key may be there twice
        with suppress(json_reader.JsonError):
            value = json_reader.loads(raw)
            if len(_KEY.findall(raw)) == count_keys(value):
                return Body(value, raw, text=False)
    from pybernetes.api.text import yaml_reader  # only now: few clients send it

    try:
        value, repeated = yaml_reader.loads(raw)
    except yaml_reader.YamlError as error:
        return Body(None, raw, text=False, problem=f"error converting YAML to JSON: {error}")
    return Body(value, raw, text=False, repeated=tuple(repeated))
