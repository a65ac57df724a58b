"""Corefiles: the configuration language of CoreDNS, read into blocks of plugins.

A Corefile has blocks ``ZONE[:PORT]… { PLUGIN [ARGUMENT…] [{ … }] }``, snippets ``(NAME) { … }`` that ``import NAME`` puts
in, and ``{$VARIABLE}`` for the environment. What a plugin means is its own file's business.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_MOST_BYTES = 1 << 20
_MOST_LINES = 20_000  # with everything that is imported
_VARIABLE = re.compile(r"\{\$([A-Za-z_][A-Za-z0-9_]*)\}|\{%([A-Za-z_][A-Za-z0-9_]*)%\}")


class CorefileError(ValueError):
    """What is wrong with a Corefile, in CoreDNS' words."""


@dataclass(frozen=True, slots=True)
class Line:
    """The words of a line, and where it stands."""

    words: tuple[str, ...]
    number: int

    def problem(self, text: str) -> CorefileError:
        """Return the error that something on this line is wrong."""
        return CorefileError(f"Corefile:{self.number} - Error during parsing: {text}")

    def wrong_count(self) -> CorefileError:
        """Return the error that there are too many or too few arguments."""
        return self.problem(f"Wrong argument count or unexpected line ending after '{self.words[-1]}'")


@dataclass(slots=True)
class Directive:
    """One plugin of a block, with its arguments and what stands in its own braces."""

    line: Line
    inner: list[Line] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The plugin's name."""
        return self.line.words[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        """What stands behind the name."""
        return self.line.words[1:]


@dataclass(slots=True)
class Block:
    """The zones of a block, and its plugins."""

    line: Line
    directives: list[Directive] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        """The zones as they are written."""
        return [word.rstrip(",") for word in self.line.words]

    def find(self, name: str) -> list[Directive]:
        """Return the plugins of a name."""
        return [directive for directive in self.directives if directive.name == name]


def _words(text: str, number: int) -> list[str]:
    """Return the words of a line: quotes hold one together, a word that begins with # ends the line."""
    words: list[str] = []
    at, end = 0, len(text)
    while at < end:
        if text[at].isspace():
            at += 1
        elif text[at] == "#":
            break
        elif text[at] == '"':
            word, at = [], at + 1
            while at < end and text[at] != '"':
                if text[at] == "\\" and text[at + 1 : at + 2] == '"':
                    at += 1
                word.append(text[at])
                at += 1
            if at == end:
                raise CorefileError(f"Corefile:{number} - Error during parsing: a quote is not closed")
            words.append("".join(word))
            at += 1
        else:
            start = at
            while at < end and not text[at].isspace():
                at += 1
            words.append(text[start:at])
    return words


def _lines(text: str, environment: Mapping[str, str]) -> Iterator[Line]:
    def value(match: re.Match[str]) -> str:
        return environment.get(match[1] or match[2], "")

    for number, line in enumerate(text.splitlines(), 1):
        words = tuple(_VARIABLE.sub(value, word) for word in _words(line, number))
        if words:
            yield Line(words, number)


def _end(number: int) -> CorefileError:
    return CorefileError(f"Corefile:{number} - Syntax error: Unexpected EOF, expecting '}}'")


def _snippets(lines: list[Line]) -> tuple[dict[str, list[Line]], list[Line]]:
    """Return the snippets of a file, and the lines of its blocks."""
    snippets: dict[str, list[Line]] = {}
    rest: list[Line] = []
    inside: list[Line] | None = None
    depth = 0
    for line in lines:
        first = line.words[0]
        if depth == 0 and first.startswith("(") and first.endswith(")") and line.words[1:] == ("{",):
            if first[1:-1] in snippets:
                raise line.problem(f"redeclaration of previously declared snippet {first[1:-1]}")
            inside = snippets[first[1:-1]] = []
            depth = 1
            continue
        depth += (line.words[-1] == "{") - (line.words == ("}",))
        if inside is not None and depth == 0:
            inside = None
            continue
        (rest if inside is None else inside).append(line)
    return snippets, rest


def _imported(
    lines: list[Line], snippets: Mapping[str, list[Line]], counted: Iterator[int], depth: int = 0
) -> Iterator[Line]:
    for line in lines:
        if next(counted) > _MOST_LINES:  # imports count as well: they may be of nothing, many times over
            raise line.problem("the Corefile is too long")
        if line.words[0] != "import":
            yield line
            continue
        if len(line.words) != 2:
            raise line.wrong_count()
        snippet = snippets.get(line.words[1])
        if snippet is None:
            raise line.problem(
                f"Could not import {line.words[1]}: only snippets of this file can be imported"
            )
        if depth > 20:
            raise line.problem("maximum import depth exceeded")
        yield from _imported(snippet, snippets, counted, depth + 1)


def parse(text: str, environment: Mapping[str, str] = os.environ) -> list[Block]:
    """Return the blocks of a Corefile; CorefileError names the line that is wrong."""
    if len(text) > _MOST_BYTES:
        raise CorefileError("the Corefile is too large")
    snippets, own = _snippets(list(_lines(text, environment)))
    blocks: list[Block] = []
    block: Block | None = None
    directive: Directive | None = None
    number = 0
    for line in _imported(own, snippets, itertools.count()):
        number = line.number
        if line.words == ("}",):
            if directive is not None:
                directive = None
            elif block is not None:
                block = None
            else:
                raise CorefileError(
                    f"Corefile:{number} - Syntax error: Unexpected token '}}', expecting a zone"
                )
        elif block is None:
            if line.words[-1] != "{" or len(line.words) == 1:
                raise CorefileError(
                    f"Corefile:{number} - Syntax error: Unexpected token '{line.words[-1]}', expecting '{{'"
                )
            block = Block(Line(line.words[:-1], number))
            blocks.append(block)
        elif directive is not None:
            if line.words[-1] == "{":
                raise line.problem("braces cannot be nested any deeper")
            directive.inner.append(line)
        elif line.words[-1] == "{":
            if len(line.words) == 1:
                raise CorefileError(
                    f"Corefile:{number} - Syntax error: Unexpected token '{{', expecting a plugin"
                )
            directive = Directive(Line(line.words[:-1], number))
            block.directives.append(directive)
        else:
            block.directives.append(Directive(line))
    if block is not None:
        raise _end(number)
    return blocks
