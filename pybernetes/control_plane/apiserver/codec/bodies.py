"""The body of a request as a JSON value, from JSON, YAML or protobuf."""

from __future__ import annotations

import re
from typing import Any

from pybernetes.api import errors, protobuf
from pybernetes.api.schema import places
from pybernetes.api.schema.decode import count_keys
from pybernetes.api.schema.places import Place
from pybernetes.api.text import go_format, json_reader
from pybernetes.control_plane.apiserver.codec.field_complaints import field_complaints
from pybernetes.control_plane.apiserver.codec.negotiation import OFFERED, TEXTS
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import JSON

_KEY = re.compile(rb'"\s*:')
_SUMMARY = 30


class Body:
    """A decoded body.

    ``problem`` tells why there is no value and ``place`` where, ``repeated`` the keys that a YAML text has twice, ``keys``
    how many keys a JSON text has, if they were counted.
    """

    __slots__ = ("_value", "keys", "place", "problem", "raw", "repeated", "text")

    def __init__(
        self,
        value: Any,
        raw: bytes,
        *,
        text: bool = True,
        problem: str = "",
        place: str = "",
        repeated: tuple[str, ...] = (),
        keys: int | None = None,
    ) -> None:
        self._value, self.raw, self.text, self.problem, self.repeated = value, raw, text, problem, repeated
        self.place, self.keys = place, keys

    @property
    def value(self) -> Any:
        """The value; 400 if there is none."""
        if self.problem:
            raise errors.bad_request(self.problem)
        return self._value

    def take(self) -> Any:
        """Return the value, or None, and keep it no longer."""
        value, self._value = self._value, None
        return value

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
        if self.text and self.may_repeat(keys):
            return field_complaints(self.raw, unknown)
        if not self.repeated and not unknown:  # as mostly
            return []
        return [*self.repeated, *(f"unknown field {go_format.quote(path)}" for path in places.texts(unknown))]

    def may_repeat(self, keys: int) -> bool:
        """Return whether the text may have a key twice in one object, if the value has so many keys."""
        return keys != (len(_KEY.findall(self.raw)) if self.keys is None else self.keys)


def read_body(request: Request, default: tuple[str, str, str] = ("", "v1", "")) -> Body:
    """Return the body of a request; 415 for another media type.

    ``default`` is the group, version and kind of a protobuf body that does not say.
    """
    if request.headers.get(b"content-type") == JSON:  # nearly all
        return parse_body(request.body, False)
    given = request.header(b"content-type")
    media = given.partition(";")[0].strip().lower() or "application/json"
    if media == protobuf.MEDIA_TYPE:
        try:
            return Body(protobuf.decode(request.body, default), request.body, text=False)
        except protobuf.ProtobufError as error:
            return Body(None, request.body, text=False, problem=str(error))
    if media not in TEXTS:
        raise errors.unsupported_media_type(OFFERED)
    return parse_body(request.body, "yaml" in media)


def parse_body(raw: bytes, is_yaml: bool) -> Body:
    """Return a JSON or YAML text as a JSON value."""
    if is_yaml:
        return _parse_yaml(raw)
    try:
        value, keys = json_reader.read(raw)
    except json_reader.JsonError as error:
        problem = f"couldn't get version/kind; json parse error: {error.plain}"
        return Body(None, raw, problem=problem, place=error.place)
    return Body(value, raw, keys=keys)


def _parse_yaml(raw: bytes) -> Body:
    if raw[:1] == b"{":  # JSON is YAML too, and quicker to read, unless a key may be there twice
        body = parse_body(raw, False)
        if not body.problem and not body.may_repeat(count_keys(body.value)):
            return Body(body.value, raw, text=False)
    from pybernetes.api.text import yaml_reader  # only now: few clients send it

    try:
        value, repeated = yaml_reader.loads(raw)
    except yaml_reader.YamlError as error:
        return Body(None, raw, text=False, problem=f"error converting YAML to JSON: {error}")
    return Body(value, raw, text=False, repeated=tuple(repeated))
