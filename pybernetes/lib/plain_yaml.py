"""The plain part of YAML that kubeconfig files use: block mappings and lists of one-line scalars.

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
        elif _key(text) is not None or text.startswith("- "):
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
