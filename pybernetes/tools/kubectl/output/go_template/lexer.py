"""Tokens of a template."""

from __future__ import annotations

import re
from typing import NamedTuple

from pybernetes.tools.kubectl.output.go_template.tree import TemplateError


class Token(NamedTuple):
    """A token: its kind (text, open, close, or what it is inside of an action), its text, and where it stands."""

    kind: str
    text: str
    start: int
    space: bool = False  # whether blanks stand before it


_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<raw>`[^`]*`)
      | (?P<char>'(?:[^'\\\n]|\\.[^']*)')
      | (?P<declare>:=)
      | (?P<number>[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\.?[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)(?![\w]))
      | (?P<variable>\$[^\W]*)
      | (?P<field>\.[^\W\d]\w*)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign>[.,|()=])""",
    re.VERBOSE,
)


def line_of(text: str, place: int) -> int:
    """Return the line number of a place."""
    return text.count("\n", 0, place) + 1


def tokens(text: str) -> list[Token]:
    """Return all tokens of a template, trimmed where its marks ask for it."""
    all_tokens: list[Token] = []
    place, trim = 0, False
    while place <= len(text):
        start = text.find("{{", place)
        plain = text[place:start] if start >= 0 else text[place:]
        if trim:
            plain = plain.lstrip(" \t\r\n")
        cut = (
            start >= 0
            and text[start + 2 : start + 3] == "-"
            and text[start + 3 : start + 4] in (" ", "\t", "\r", "\n")
        )
        if cut:
            plain = plain.rstrip(" \t\r\n")
        if plain:
            all_tokens.append(Token("text", plain, place))
        if start < 0:
            break
        inside = start + (4 if cut else 2)
        comment = _COMMENT.match(text, _skip(text, inside) if cut else inside)
        if comment is not None:
            place, trim = _after_comment(text, comment.end())
            continue
        if text.startswith("/*", inside):
            raise TemplateError(f"{line_of(text, start)}: unclosed comment")
        all_tokens.append(Token("open", "{{", start))
        place, trim = _action(text, inside, all_tokens, start)
    return all_tokens


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place


def _after_comment(text: str, end: int) -> tuple[int, bool]:
    rest = text[end:]
    if rest.startswith("}}"):
        return end + 2, False
    match = re.match(r"[ \t\r\n]+-\}\}", rest)
    if match is None:
        raise TemplateError(f"{line_of(text, end)}: comment ends before closing delimiter")
    return end + match.end(), True


def _action(text: str, place: int, all_tokens: list[Token], opened: int) -> tuple[int, bool]:
    """Read up to the end of an action; return the place after it, and whether the following blanks are trimmed."""
    while True:
        start = _skip(text, place)
        space = start > place
        if start >= len(text):
            raise TemplateError(f"{line_of(text, opened)}: unclosed action")
        if text.startswith("}}", start):
            all_tokens.append(Token("close", "}}", start))
            return start + 2, False
        if space and text.startswith("-}}", start):
            all_tokens.append(Token("close", "-}}", start))
            return start + 3, True
        match = _TOKEN.match(text, start)
        if match is None:
            line, char = line_of(text, start), text[start]
            if char in "\"`'":
                what = {'"': "unterminated quoted string", "`": "unterminated raw quoted string"}
                raise TemplateError(f"{line}: {what.get(char, 'unterminated character constant')}")
            if char.isdigit() or char in "+-":
                word = re.match(r"[+-]?[\w.]*", text[start:])
                raise TemplateError(f'{line}: bad number syntax: "{word[0] if word else char}"')
            raise TemplateError(f"{line}: unrecognized character in action: U+{ord(char):04X} '{char}'")
        kind = match.lastgroup or ""
        all_tokens.append(Token(kind, match[0], start, space))
        place = match.end()
