"""YAML texts as JSON values, as upstream reads them: the words of YAML 1.1, times left as text, keys made text.

The value is built from the parser's events and not by the library's own constructor, which recurses without
a limit and lets a few aliases stand for a value of any size.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import math
import re
from typing import Any

import orjson
import yaml

from pybernetes.api.schema.places import MAX_COMPLAINTS
from pybernetes.api.text import go_format
from pybernetes.api.text.json_reader import MAX_CONTAINERS, MAX_DEPTH
from pybernetes.lib.event_loop import json_pieces

# How long the text is that aliases stand for, all in all: a document that is written out may be as long as a body.
MAX_ALIASED = 3 << 20
# How many directives a text may have: the library looks each of them up among all others.
MAX_DIRECTIVES = 100
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_INTEGER = re.compile(r"[-+]?(0x[0-9a-fA-F]+|0b[01]+|0o?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_DIRECTIVE = re.compile(rb"^%", re.MULTILINE)
# What 64 bits have room for, by base.
_MOST_DIGITS = {2: 64, 8: 22, 10: 20, 16: 16}
_TAG = "tag:yaml.org,2002:"
_LONGEST_KEY = 4096  # that is told of
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(ValueError):
    """The text is not YAML, or has no JSON form."""


def loads(raw: bytes) -> tuple[Any, list[str]]:
    """Return the value of the first document, and warnings about keys that a mapping has twice."""
    if sum(1 for _ in itertools.islice(_DIRECTIVE.finditer(raw), MAX_DIRECTIVES + 1)) > MAX_DIRECTIVES:
        raise YamlError("yaml: too many directives")
    try:
        return _Builder(raw).document()
    except yaml.YAMLError as error:
        raise YamlError(complaint(error)) from None
    except UnicodeDecodeError as error:
        raise YamlError(f"yaml: {error.reason}") from None


def complaint(error: yaml.YAMLError) -> str:
    """Return what the library complains about, in the words of Go's."""
    return f"yaml: {_where(error)}{_what(error)}"


def _what(error: Any) -> str:
    text = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return re.sub(r"^unacceptable character #x[0-9a-f]+: ", "", text)


def _where(error: Any) -> str:
    """Return the line as upstream counts it: from 1 in what the scanner finds, from 0 in what the parser finds."""
    marks = (getattr(error, name, None) for name in ("context_mark", "problem_mark"))
    line = next((mark.line for mark in marks if mark and mark.line), 0)
    if line and isinstance(error, yaml.scanner.ScannerError):
        line += 1
    return f"line {line}: " if line else ""


class _Builder:
    def __init__(self, raw: bytes) -> None:
        self.loader = _Loader(raw)
        self.repeated: list[str] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.aliased = self.containers = 0
        self.size = 0  # of what was read so far, as JSON and with aliases written out

    def document(self) -> tuple[Any, list[str]]:
        try:
            self._next()  # the beginning of the stream
            if isinstance(self._next(), yaml.StreamEndEvent):
                return None, []
            value = self._node(self._next(), 0)
            # A copy: changing one place must not change another that an alias filled.
            return (json_pieces.value(orjson.dumps(value)) if self.aliased else value), self.repeated
        finally:
            self.loader.dispose()

    def _next(self) -> Any:
        return self.loader.get_event()

    def _node(self, event: Any, depth: int) -> Any:
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self._alias(event)
        if depth > MAX_DEPTH:
            raise YamlError("yaml: exceeded max depth")
        before = self.size
        if kind is yaml.ScalarEvent:
            value = _scalar(event)
            self.size += len(event.value) + 3
        elif kind is yaml.SequenceStartEvent:
            value = []
            self._count()
            while type(item := self._next()) is not yaml.SequenceEndEvent:
                value.append(self._node(item, depth + 1))
        else:
            self._count()
            value = self._mapping(depth)
        if event.anchor:
            self.anchors[event.anchor] = value, self.size - before
        return value

    def _count(self) -> None:
        self.size += 3
        self.containers += 1
        if self.containers > MAX_CONTAINERS:
            raise YamlError("yaml: too many sequences and mappings")

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise YamlError(f"yaml: unknown anchor '{event.anchor}' referenced")
        value, size = self.anchors[event.anchor]
        self.size += size
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            raise YamlError("yaml: document contains excessive aliasing")
        return value

    def _mapping(self, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        merged: list[Any] = []
        while type(event := self._next()) is not yaml.MappingEndEvent:
            is_merge = type(event) is yaml.ScalarEvent and event.value == "<<" and event.implicit[0]
            line = event.start_mark.line + 1
            key = _key(self._node(event, depth + 1))
            value = self._node(self._next(), depth + 1)
            if is_merge:
                merged += value if isinstance(value, list) else [value]
                continue
            if key in entries and len(self.repeated) < MAX_COMPLAINTS and len(key) < _LONGEST_KEY:
                self.repeated.append(f"line {line}: key {go_format.quote(key)} already set in map")
            entries[key] = value
        # The same map again adds nothing; taken each time, few bytes of aliases would be much work.
        for other in {id(other): other for other in merged}.values():
            if not isinstance(other, dict):
                raise YamlError("yaml: map merge requires map or sequence of maps as the value")
            for key, value in other.items():
                entries.setdefault(key, value)
        return entries


def _key(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise YamlError(
        f"yaml: {'null' if value is None else 'a list or map'} cannot be the key of a JSON object"
    )


def _scalar(event: Any) -> Any:
    text: str = event.value
    tag = (event.tag or "").removeprefix(_TAG)
    if tag == "binary":
        try:
            return base64.b64decode(text, validate=False).decode("utf-8", "replace")
        except binascii.Error:
            raise YamlError("yaml: !!binary value contains invalid base64 data") from None
    if tag in ("str", "!") or (not event.implicit[0] and not tag):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "")
    number = _number(plain)
    if number is not None:
        return number
    if _NO_NUMBER.fullmatch(plain):
        raise YamlError(f"yaml: {text} has no JSON form")
    return text


def _number(text: str) -> int | float | None:
    """Return the number that a text is, None if it is none or one for which Go has no room: that stays a text."""
    if _INTEGER.fullmatch(text):
        number = _integer(text)
        if number is not None:
            return number
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if math.isfinite(value) else None
    return None


def _integer(text: str) -> int | None:
    """Return an integer of 64 bits, None for a larger one; one with a sign has room for 63."""
    digits = text.lstrip("+-")
    base = 10
    if digits[0] == "0" and len(digits) > 1:
        base = {"x": 16, "b": 2, "o": 8}.get(digits[1], 8)
        digits = digits[2:] if digits[1] in "xbo" else digits
    digits = digits.lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS[base]:  # reading it would take time for nothing
        return None
    value = int(digits, base)
    value = -value if text[0] == "-" else value
    return value if -(2**63) <= value < (2**63 if text[0] in "+-" else 2**64) else None
