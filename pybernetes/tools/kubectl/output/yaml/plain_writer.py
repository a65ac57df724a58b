"""Writes plain values as YAML, without the YAML library, which takes longer to import than most values take to write.

It writes what the library would, byte for byte, and gives up on texts that it does not know how to.
"""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.output.yaml.scalars import is_ambiguous, ordered

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

_WIDTH = 80  # a text goes on in the next line at the first space behind it
_LONG_KEY = 100  # the library writes long keys in another way
_PRINTABLE = re.compile(r"[ -~]+\Z")
_LINES = re.compile(r"(?![ \n])(?:[ -~]*[!-~]\n|\n)*(?:[ -~]*[!-~]\n?)\Z")
# What must have quotes: indicators in front, spaces at the ends, what begins a value or a comment.
NEEDS_QUOTES = re.compile(r"[#,\[\]{}&*!|>'\"%@` ]|[?:-](?: |\Z)|---|\.\.\.|.*(?::(?: |\Z)| #| \Z)")


class NotPlain(Exception):
    """There is a text in it that only the library can write."""


def dumps(value: Any) -> str:
    """Return an object as YAML; NotPlain if that takes the library."""
    if not isinstance(value, dict) or not value:
        raise NotPlain
    lines: list[str] = []
    _mapping(value, "", "", lines)
    lines.append("")
    return "\n".join(lines)


def _mapping(value: Object, lead: str, indent: str, lines: list[str]) -> None:
    """Append the lines of a mapping; the first begins with ``lead``, the others with ``indent``."""
    for key in ordered(value):
        if len(key) > _LONG_KEY:
            raise NotPlain
        _value(value[key], f"{lead}{_text(key, '', 0)}:", indent, indent, lines)
        lead = indent


def _value(value: Any, lead: str, indent: str, items: str, lines: list[str]) -> None:
    """Append what follows a key or a dash, ``lead``; the items of a list begin at ``items``."""
    if isinstance(value, str):
        if "\n" in value:
            lines.append(f"{lead} {_block(value, indent)}")
        else:
            lines.append(f"{lead} {_text(value, indent, len(lead) + 1)}")
    elif value is True or value is False:
        lines.append(f"{lead} true" if value else f"{lead} false")
    elif isinstance(value, int):
        lines.append(f"{lead} {value}")
    elif isinstance(value, dict):
        if not value:
            lines.append(f"{lead} {{}}")
        elif lead.endswith(":"):
            lines.append(lead)
            _mapping(value, f"{indent}  ", f"{indent}  ", lines)
        else:
            _mapping(value, f"{lead} ", f"{indent}  ", lines)
    elif isinstance(value, list):
        if not value:
            lines.append(f"{lead} []")
            return
        if lead.endswith(":"):
            lines.append(lead)
            lead = f"{items}-"
        else:
            lead, indent, items = f"{lead} -", f"{indent}  ", f"{items}  "
        for item in value:
            _value(item, lead, indent, items, lines)
            lead = f"{items}-"
    elif value is None:
        lines.append(f"{lead} null")
    else:
        raise NotPlain


def _text(value: str, indent: str, column: int) -> str:
    """Return a text of one line that begins at a column; ``indent`` is its parent's. A key has neither."""
    if is_ambiguous(value) and " " not in value:
        return f'"{value}"'
    if not _PRINTABLE.match(value) or is_ambiguous(value):
        raise NotPlain
    quote = "'" if NEEDS_QUOTES.match(value) else ""
    if quote:
        value = value.replace("'", "''")
    if column + len(value) > _WIDTH and " " in value and column:
        value = _folded(value, f"\n{indent}  ", column + len(quote), quote)
    return f"{quote}{value}{quote}"


def _folded(value: str, line: str, column: int, quote: str) -> str:
    """Return a text broken at the single spaces behind the width."""
    if "  " in value or (quote and (value[0] == " " or value[-1] == " ")):
        raise NotPlain
    words = value.split(" ")
    text = words[0]
    column += len(words[0])
    for word in words[1:]:
        if column > _WIDTH:
            text += f"{line}{word}"
            column = len(line) - 1 + len(word)
        else:
            text += f" {word}"
            column += 1 + len(word)
    return text


def _block(value: str, indent: str) -> str:
    """Return a text of several lines."""
    if not _LINES.match(value):
        raise NotPlain
    mark = "|" if value.endswith("\n") else "|-"
    lines = value.removesuffix("\n").split("\n")
    return "\n".join([mark, *(f"{indent}  {line}" if line else "" for line in lines)])
