"""The plain part of YAML that kubeconfig files use: mappings and lists of one-line scalars, in blocks, in brackets or as JSON.

It costs a fraction of importing a YAML library. Whatever is not plain raises ``NotPlain``, and the caller takes the library.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from typing import Any


_SPECIAL = "&*!|>%@`{[#?'\""
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None, "{}": {}, "[]": [], '""': "", "''": "",
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_OTHER_WORDS = frozenset(
    ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"]
)

_LONGEST_KEY = 1000  # YAML itself takes no longer text for a key


class NotPlain(ValueError):
    """The text uses more of YAML than is known here."""


def parse(text: str) -> Any:
    """Return the value of a text."""
    lines: list[tuple[int, str]] = []
    for line in text.splitlines():
        stripped = line.lstrip(" ")
        if not stripped or stripped[0] == "#":
            continue
        if line == "---" and not lines:
            continue
        if "\t" in line or stripped.startswith(("---", "...")):
            raise NotPlain(line)
        lines.append((len(line) - len(stripped), stripped.rstrip()))
    if not lines:
        return None
    try:
        if lines[0][1][0] in "{[":
            return _whole_flow("\n".join(line for _, line in lines))
        value, place = _block(lines, 0, lines[0][0])
    except RecursionError:
        raise NotPlain("nested too deeply") from None
    if place != len(lines):
        raise NotPlain(lines[place][1])
    return value


def _block(lines: list[tuple[int, str]], place: int, indent: int) -> tuple[Any, int]:
    if lines[place][1].startswith("- ") or lines[place][1] == "-":
        return _list(lines, place, indent)
    return _mapping(lines, place, indent)


def _list(lines: list[tuple[int, str]], place: int, indent: int) -> tuple[list[Any], int]:
    items = []
    while place < len(lines) and lines[place][0] == indent and lines[place][1][:2] in ("- ", "-"):
        rest = lines[place][1][1:]
        text = rest.lstrip(" ")
        if not text:
            if place + 1 < len(lines) and lines[place + 1][0] > indent:
                value, place = _block(lines, place + 1, lines[place + 1][0])
            else:
                value, place = None, place + 1
        elif text[0] not in "{[" and (_key(text) is not None or text.startswith("- ")):
            deeper = indent + 1 + len(rest) - len(text)
            lines[place] = (deeper, text)
            value, place = _block(lines, place, deeper)
        else:
            value, place = _scalar(text), place + 1
            if place < len(lines) and lines[place][0] > indent:
                raise NotPlain(text)
        items.append(value)
    return items, place


def _mapping(lines: list[tuple[int, str]], place: int, indent: int) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    while place < len(lines) and lines[place][0] == indent:
        split = _key(lines[place][1])
        if split is None:
            raise NotPlain(lines[place][1])
        key, text = split
        if key in members:
            raise NotPlain(key)
        place += 1
        deeper = place < len(lines) and (
            lines[place][0] > indent or (lines[place][0] == indent and lines[place][1][:2] in ("- ", "-"))
        )
        if text:
            if place < len(lines) and lines[place][0] > indent:
                raise NotPlain(text)
            members[key] = _scalar(text)
        elif deeper:
            members[key], place = _block(lines, place, lines[place][0])
        else:
            members[key] = None
    if place < len(lines) and lines[place][0] > indent:
        raise NotPlain(lines[place][1])
    return members, place


def _key(text: str) -> tuple[str, str] | None:
    """Return key and rest of a line of a mapping; None if it is not one."""
    key, colon, rest = text.partition(":")
    if not colon or (rest and rest[0] != " "):
        if ": " in text or text.endswith(":") or text[0] in "\"'":
            raise NotPlain(text)
        return None
    if not key or not all(char.isalnum() or char in "-_." for char in key) or not key[0].isalpha():
        raise NotPlain(text)
    if key in _WORDS or key in _OTHER_WORDS or len(key) > _LONGEST_KEY:
        raise NotPlain(text)
    return key, rest.strip(" ")


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return {} if text == "{}" else [] if text == "[]" else _WORDS[text]
    first = text[0]
    if first in "{[":
        return _whole_flow(text)
    if first in "\"'" and len(text) > 1 and text[-1] == first:
        inner = text[1:-1]
        if first in inner or "\\" in inner:
            raise NotPlain(text)
        return inner
    if first in _SPECIAL or text in _OTHER_WORDS or " #" in text or ": " in text or text.endswith(":"):
        raise NotPlain(text)
    if first in "0123456789+-.=<":
        raise NotPlain(text)
    return text


def _whole_flow(text: str) -> Any:
    value, place = _flow(text, 0)
    if text[place:].strip(" \n"):
        raise NotPlain(text)
    return value


def _flow(text: str, place: int) -> tuple[Any, int]:
    """Return the value in brackets that begins at a place, or the scalar there, and the place after it."""
    first = text[place]
    if first not in "{[":
        return _flow_scalar(text, place)
    members: dict[str, Any] = {}
    items: list[Any] = []
    end = "}" if first == "{" else "]"
    place = _next(text, place + 1)
    while text[place] != end:
        if members or items:
            if text[place] != ",":
                raise NotPlain(text)
            place = _next(text, place + 1)
        if first == "{":
            key, place = _flow_key(text, place)
            if key in members:
                raise NotPlain(key)
            members[key], place = _flow(text, place)
        else:
            item, place = _flow(text, place)
            items.append(item)
        place = _next(text, place)
    return (members if first == "{" else items), place + 1


def _next(text: str, place: int) -> int:
    """Return the place of the next character that is no space."""
    while place < len(text) and text[place] in " \n":
        place += 1
    if place == len(text):
        raise NotPlain(text)
    return place


def _flow_key(text: str, place: int) -> tuple[str, int]:
    """Return a key and the place of its value."""
    colon = text.find(": ", place)
    if colon < 0:
        raise NotPlain(text)
    key = text[place:colon]
    if len(key) > 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if _key(f"{key}: ") is None:
        raise NotPlain(key)
    return key, _next(text, colon + 1)


def _flow_scalar(text: str, place: int) -> tuple[Any, int]:
    first = text[place]
    if first in "\"'":
        end = text.find(first, place + 1) + 1
        if not end or text[end : end + 1] == first:
            raise NotPlain(text)
    else:
        end = place
        while end < len(text) and text[end] not in ",[]{}":
            end += 1
    scalar = text[place:end].rstrip(" \n")
    if not scalar or scalar[0] == ":" or "\n" in scalar:
        raise NotPlain(text)
    return _scalar(scalar), end
