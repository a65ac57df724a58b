"""Large JSON texts cut into pieces, each a text of its own: a parser in C cannot be interrupted, but between two pieces others
have their turn.

A piece ends before a comma and the next one begins with it. The brackets that are open make it whole: before it each of them
is opened, with something in the place of what was read already, and behind it each is closed. What a parser makes of a
piece is then joined to what it made of those before. A text is JSON if and only if all of its pieces are.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson

from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.discarding import discard

# How much is looked at and parsed at once; a text or number inside that is longer is not divided.
SLICE = 16 << 10
# What is more than this is read beside the event loop.
_MUCH = 256 << 10
# More quotes, commas and opening brackets make a text one that is divided: a parser takes up to 250 ns for each.
MANY_MARKS = 20_000
# What stands for the part of an array or object that was read before, and what marks the innermost one that goes on.
# Nobody can send these.
BEGIN, END = f"begin-{secrets.token_hex(8)}", f"end-{secrets.token_hex(8)}"
# A text without the quote at its end, and that quote, which is missing where a slice ends inside of the text.
_TEXT = re.compile(rb'("(?:[^"\\]++|\\.)*+)("?)', re.DOTALL)
_REST_OF_TEXT = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_NO_MARKS = bytes(set(range(256)) - set(b',"[{'))
_CLOSED_BY = bytes.maketrans(b"[{", b"]}")
_QUOTE, _COMMA, _BLANK = ord('"'), b",", b" \t\r\n"
_OPENING = {ord("["): b"[", ord("{"): b'{"%b":' % BEGIN.encode()}
_MARKED = {ord("["): b',"%b"' % END.encode(), ord("{"): b',"%b":0' % END.encode()}
# How many open brackets no parser follows.
_DEEPEST = 2048
# Brackets next to one another are taken out so often before each is looked at.
_ROUNDS = 8


class Piece(NamedTuple):
    """A part of a text: where it is, the brackets that are open before and behind it, its keys, its arrays and objects.

    ``kept`` of those before stay open. The last piece is not made whole at its end: it is the end of the text, or it has the
    place in it at which the text turns out not to be JSON.
    """

    start: int
    end: int
    before: bytes
    after: bytes
    kept: int
    keys: int
    containers: int
    is_last: bool

    def head(self) -> bytes:
        """Return what opens the brackets before it."""
        return b"".join(map(_OPENING.__getitem__, self.before)) + b"0" if self.before else b""

    def document(self, raw: bytes) -> bytes:
        """Return this piece of a text as a text of its own."""
        tail = b"" if self.is_last else _MARKED[self.after[-1]] + self.after[::-1].translate(_CLOSED_BY)
        return self.head() + raw[self.start : self.end] + tail


def has_many_marks(raw: bytes) -> bool:
    """Return whether a text is so much work for a parser that it is to be divided."""
    return len(raw) > MANY_MARKS and len(raw.translate(None, _NO_MARKS)) > MANY_MARKS


def pieces(raw: bytes, size: int = SLICE) -> Iterator[Piece]:
    """Divide a text, in time that is linear in its size, into pieces of about so many bytes."""
    return _Cutter(raw, size).pieces()


class _Cutter:
    def __init__(self, raw: bytes, size: int) -> None:
        self.raw, self.size = raw, max(size, 2)  # a backslash and what it escapes
        self.start = self.position = 0
        self.is_in_text = self.is_broken = False
        self.before, self.open = b"", bytearray()
        self.kept = self.keys = self.containers = 0

    def pieces(self) -> Iterator[Piece]:
        while self.position < len(self.raw):
            if self.is_in_text:
                self._pass_text()
                continue
            limit = min(self.position + self.size, len(self.raw))
            parts = _TEXT.split(self.raw[self.position : limit])  # what is no text is at 0, 3, 6 and so on
            self.is_in_text = len(parts) > 1 and not parts[-2]
            if self.is_in_text:  # what is left is nothing, or a backslash
                limit -= len(parts.pop())
                parts.append(b"")
            index = len(parts) - 1
            while index > 0 and _COMMA not in parts[index]:
                index -= 3
            place = parts[index].rfind(_COMMA)
            if place < 0:
                self._note(b"".join(parts[::3]))
            else:
                self._note(b"".join(parts[:index:3]) + parts[index][:place])
                cut = limit - sum(map(len, parts[index + 1 :])) - len(parts[index]) + place
                if not self.is_broken and self._can_cut(cut):
                    yield self._piece(cut, is_last=False)
                self._note(parts[index][place:] + b"".join(parts[index + 3 :: 3]))
            self.position = limit
            if self.is_broken:
                break
        yield self._piece(self.position, is_last=True)

    def _pass_text(self) -> None:
        """Read on to the end of a text, or for a slice."""
        part = self.raw[self.position : self.position + self.size]
        match = _REST_OF_TEXT.match(part)
        end = match.end() if match else 0
        if end < len(part) and part[end] == _QUOTE:
            self.is_in_text = False
            end += 1
        self.position += end or len(part)  # a text that ends with a backslash has no end

    def _note(self, bare: bytes) -> None:
        """Take in what is no text: brackets and keys."""
        self.keys += bare.count(b":")
        self.containers += bare.count(b"{") + bare.count(b"[")
        brackets = bare.translate(None, _NO_BRACKETS)
        for _ in range(_ROUNDS):
            brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        for bracket in brackets:
            if bracket in _OPENING and len(self.open) < _DEEPEST:
                self.open.append(bracket)
            elif self.open and bracket == _CLOSED_BY[self.open[-1]]:
                self.open.pop()
                if len(self.open) < self.kept:
                    self.kept = len(self.open)
            else:
                self.is_broken = True
                return

    def _can_cut(self, comma: int) -> bool:
        """Return whether a comma can be where it is; otherwise the text is broken there, or before."""
        last = self.raw[max(self.start, comma - 1) : comma]
        if last in (b" ", b"\t", b"\r", b"\n"):
            last = self.raw[self.start : comma].rstrip(_BLANK)[-1:]
        self.is_broken = not self.open or last in (b"", b"[", b"{", b",", b":")
        return not self.is_broken

    def _piece(self, end: int, is_last: bool) -> Piece:
        counts = (self.kept, self.keys, self.containers)
        piece = Piece(self.start, end, self.before, bytes(self.open), *counts, is_last)
        self.start, self.before, self.kept, self.keys, self.containers = (
            end,
            piece.after,
            len(self.open),
            0,
            0,
        )
        return piece


class Joined:
    """The value of a text whose pieces are parsed one after the other."""

    def __init__(self) -> None:
        self.value: Any = None
        self._open: list[Any] = []

    def add(self, piece: Piece, value: Any) -> None:
        """Take in what a piece was parsed to."""
        parts: list[Any] = []  # of what is open before it
        for _ in piece.before:
            parts.append(value)
            value = value.pop(BEGIN if type(value) is dict else 0)
        way = [] if piece.is_last else _way_to_end(parts[piece.kept - 1] if parts else value)
        for whole, part in zip(self._open, parts, strict=True):
            if type(whole) is dict:
                whole.update(part)
            else:
                whole += part
        if not parts:
            self.value = value
        self._open[piece.kept :] = way[1:] if parts else way

    def let_go(self) -> list[Any]:
        """Return the value, in a list, and keep it no longer."""
        values, self.value = [self.value], None
        self._open.clear()
        return values


def _way_to_end(value: Any) -> list[Any]:
    """Return the arrays and objects around the mark at the end of a piece, and take it out.

    Mostly it is in what comes last; not in an object that has a key twice.
    """
    way, waiting = [value], [_last_first(value)]
    while not _had_end(way[-1]):
        following = next(waiting[-1], None)
        while following is None:
            way.pop()
            waiting.pop()
            following = next(waiting[-1], None)
        way.append(following)
        waiting.append(_last_first(following))
    return way


def _last_first(value: Any) -> Iterator[Any]:
    items = reversed(value.values() if type(value) is dict else value)
    return (item for item in items if type(item) in (dict, list))


def _had_end(value: Any) -> bool:
    if type(value) is dict:
        return value.pop(END, None) is not None
    if value and value[-1] == END:
        value.pop()
        return True
    return False


def loads(raw: bytes, parse: Callable[[Piece], Any], size: int = SLICE) -> tuple[Any, int]:
    """Return the value of a text, whose pieces a function parses, and how many keys the text has."""
    joined, keys = Joined(), 0
    try:
        for piece in pieces(raw, size):
            joined.add(piece, parse(piece))
            keys += piece.keys
    except BaseException:
        discard(joined.let_go())
        raise
    return joined.value, keys


def value(raw: bytes) -> Any:
    """Return the value of a text that is known to be JSON, such as one of ours; in pieces if it has many marks.

    On a thread with an event loop nobody has his turn between the pieces, and it is read at once, in a quarter of the time.
    """
    if len(raw) <= MANY_MARKS or _has_loop() or not has_many_marks(raw):
        return orjson.loads(raw)
    return loads(raw, lambda piece: orjson.loads(piece.document(raw)))[0]


async def read(raw: bytes) -> Any:
    """Return the value of a JSON text; a large one is read beside the event loop, in pieces."""
    if len(raw) <= _MUCH:
        return orjson.loads(raw)
    return await off_loop.beside(value, raw)


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
