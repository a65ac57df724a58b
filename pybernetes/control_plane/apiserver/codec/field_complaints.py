"""What is told of a body's fields that are unknown or there twice: the first of them, in the order of the text."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

from pybernetes.api.schema import places
from pybernetes.api.schema.places import Place
from pybernetes.api.text import go_format
from pybernetes.lib.event_loop import json_pieces
from pybernetes.lib.event_loop.json_pieces import END, Piece

_NONE: dict[Any, Any] = {}


class _Pairs(list[tuple[str, Any]]):
    """An object's members in order, as opposed to an array."""

    __slots__ = ()


class _Open:
    """An array or object that is being walked: where it is, what is unknown in it, and how far the walk is.

    ``seen`` has the keys of an object, true those that were there once; it is None for an array. What is inside of an
    unknown field ``is_ignored``.
    """

    __slots__ = ("index", "is_ignored", "place", "seen", "unknown")

    def __init__(self, value: Any, place: Place, unknown: dict[Any, Any], is_ignored: bool = False) -> None:
        self.place, self.unknown, self.is_ignored, self.index = place, unknown, is_ignored, 0
        self.seen: dict[str, bool] | None = {} if type(value) is _Pairs else None


_Findings = Generator[tuple[Place, str], None, bool]


def field_complaints(raw: bytes, unknown: list[Place], size: int = json_pieces.SLICE) -> list[str]:
    """Return unknown and duplicate fields of a JSON text; nobody looks into what is unknown.

    The text is walked in pieces, none of which is kept, and no further than to the last complaint that is told.
    """
    tree: dict[Any, Any] = {}
    for place in unknown:
        node = tree
        for step in places.steps(place):
            node = node.setdefault(step, {})
    complaints: dict[str, str] = {}
    length = 0
    for place, sort in _findings(raw, tree, size):
        where = places.text(place)
        complaints[where] = f"{sort} field {go_format.quote(where)}"
        length += len(where)
        if len(complaints) == places.MAX_COMPLAINTS or length > places.MAX_BYTES:
            break
    return list(complaints.values())


def _findings(raw: bytes, tree: dict[Any, Any], size: int) -> Generator[tuple[Place, str], None, None]:
    opened: list[_Open] = []
    for piece in json_pieces.pieces(raw, size):
        # Numbers are not read: only keys count here, and numbers can have any length.
        text = piece.document(raw).decode("utf-8", "replace")
        value = json.loads(text, object_pairs_hook=_Pairs, parse_int=len, parse_float=len)
        if not piece.before and type(value) in (_Pairs, list):
            opened.append(_Open(value, None, tree))
            yield from _walk(value, opened)
        # What goes on comes first in the text, then what is around it.
        for part in reversed(_parts(piece, value)):
            if (yield from _walk(part, opened)):
                break
            opened.pop()


def _parts(piece: Piece, value: Any) -> list[Any]:
    """Return what a piece adds to each of the containers that are open before it, the outermost first."""
    parts = []
    for _ in piece.before:
        first = value.pop(0)
        parts.append(value)
        value = first[1] if type(value) is _Pairs else first
    return parts


def _walk(value: Any, opened: list[_Open]) -> _Findings:
    """Yield the fields of the innermost open container that are there twice or unknown; return whether it stays open."""
    current = opened[-1]
    for item in value:
        key: str | int = current.index
        if current.seen is not None:
            key, item = item
        if END in (key, item):
            return True
        current.index += 1
        node, is_ignored = current.unknown.get(key), current.is_ignored
        if type(key) is str and current.seen is not None and not is_ignored:
            if node is not None and not node:
                yield (current.place, key), "unknown"
                is_ignored = True
            elif current.seen.get(key):  # a second time is told once
                current.seen[key] = False
                yield (current.place, key), "duplicate"
            current.seen.setdefault(key, not is_ignored)
        if type(item) in (_Pairs, list):
            opened.append(_Open(item, (current.place, key), node or _NONE, is_ignored))
            if (yield from _walk(item, opened)):
                return True
            opened.pop()
    return False
