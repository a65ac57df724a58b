"""Finds objects by any part of their texts: names, labels, images, addresses, owners, messages. Pure, and without I/O.

Texts are kept in blocks of some hundred objects, each joined to one text. A search looks through the blocks with one
``in`` each, which runs at the speed of memory, and looks closer only where there is something: a change makes one block
be joined again, whatever the number of objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_BLOCK = 256
# A search for what nearly everything has is told the best of the first so many.
_MOST_CANDIDATES = 2000
_MOST_WORDS = 8
_LONGEST_QUERY = 200
# What is about other objects, and named after them, comes after those.
_EVENTS = "events"
_LAST = (_EVENTS, "endpointslices.discovery.k8s.io")
# What a text of an object is: a line begins with the number of its field as a character that nobody can type.
FIELDS = (
    "name",
    "namespace",
    "uid",
    "label",
    "annotation",
    "owner",
    "image",
    "address",
    "node",
    "message",
    "status",
)
_FIRST_MARK = 0x10  # those below end lines, among others
_MARKS = {field: chr(_FIRST_MARK + number) for number, field in enumerate(FIELDS)}
_NAME_MARK = _MARKS["name"]
# Where the words of a query were found: better places first.
_EXACT, _PREFIX, _NAME, _ELSEWHERE = range(4)


class Key(NamedTuple):
    """What names an object: its resource (``pods``, ``deployments.apps``), namespace and name."""

    resource: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Hit:
    """An object that was found, and the text that made it be found."""

    key: Key
    field: str
    text: str


class Query(NamedTuple):
    """What is looked for: words that an object must all have, in the resource and the namespace if those are said."""

    words: tuple[str, ...]
    resource: str = ""
    namespace: str = ""


def parse(text: str) -> Query:
    """Read what a person typed: words, and ``kind:pods`` or ``ns:default`` among them."""
    words, resource, namespace = [], "", ""
    printable = "".join(character if character.isprintable() else " " for character in text[:_LONGEST_QUERY])
    for word in printable.lower().split()[:_MOST_WORDS]:
        what, colon, value = word.partition(":")
        if colon and value and what in ("kind", "k"):
            resource = value
        elif colon and value and what in ("ns", "namespace", "n"):
            namespace = value
        else:
            words.append(word)
    return Query(tuple(words), resource, namespace)


def text_of(fields: Iterable[tuple[str, str]]) -> str:
    """Return the texts of an object as one, in lower case: a line for each."""
    lines = (_MARKS[field] + _one_line(value) for field, value in fields if value)
    return "\n".join(lines).lower() + "\n"


def _one_line(value: str) -> str:
    # Most texts are: to look is much faster than to change.
    return value if value.isprintable() else "".join(char if char.isprintable() else " " for char in value)


class _Block:
    __slots__ = ("entries", "text")

    def __init__(self) -> None:
        self.entries: dict[Key, str] = {}
        self.text: str | None = ""

    def joined(self) -> str:
        if self.text is None:
            self.text = "".join(self.entries.values())
        return self.text


class SearchIndex:
    """Every object's texts, by its key."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._block_of: dict[Key, _Block] = {}
        self._roomy: list[_Block] = []  # blocks that may have room, the last one being filled

    def __len__(self) -> int:
        return len(self._block_of)

    def put(self, key: Key, text: str) -> None:
        """Take in an object, or its new text, as ``text_of`` makes it."""
        block = self._block_of.get(key)
        if block is None:
            block = self._block_of[key] = self._with_room()
        block.entries[key] = text
        block.text = None

    def remove(self, key: Key) -> None:
        """Forget an object, if it is here."""
        block = self._block_of.pop(key, None)
        if block is not None:
            if len(block.entries) == _BLOCK:
                self._roomy.insert(0, block)
            del block.entries[key]
            block.text = None

    def _with_room(self) -> _Block:
        while self._roomy and len(self._roomy[-1].entries) >= _BLOCK:
            self._roomy.pop()
        if not self._roomy:
            self._roomy.append(_Block())
            self._blocks.append(self._roomy[-1])
        return self._roomy[-1]

    def search(self, text: str, limit: int = 50) -> list[Hit]:
        """Return the best objects for what a person typed: the name itself first, then how it begins, then any part."""
        query = parse(text)
        if not (query.words or query.resource or query.namespace):
            return []
        best: dict[Key, tuple[int, bool, int, Key, str]] = {}
        # Names come first: with many objects that have the words elsewhere, those would not be looked at otherwise.
        for named in (True, False):
            for key, own in self._candidates(query, named):
                if key not in best:
                    best[key] = (_rank(key, query.words), key.resource in _LAST, len(key.name), key, own)
            if len(best) >= limit:
                break
        return [_hit(key, own, query.words) for *_, key, own in sorted(best.values())[:limit]]

    def _candidates(self, query: Query, named: bool) -> Iterator[tuple[Key, str]]:
        words = sorted(query.words, key=len, reverse=True)
        left = _MOST_CANDIDATES
        for needle in _needles(words, named):
            for block in self._blocks:
                joined = block.joined()
                if needle not in joined or any(word not in joined for word in words):
                    continue
                for key, own in block.entries.items():
                    if needle in own and all(word in own for word in words) and _chosen(key, query):
                        yield key, own
                        left -= 1
                        if not left:
                            return


def _needles(words: list[str], named: bool) -> tuple[str, ...]:
    """Return what an object's text is looked through for: with ``named``, names that begin with one of the words."""
    if not named:
        return (words[0] if words else "",)
    return tuple(_NAME_MARK + word for word in words)


def _chosen(key: Key, query: Query) -> bool:
    resource = key.resource
    if query.resource and not resource.startswith(query.resource):
        return False
    return not query.namespace or key.namespace == query.namespace


def _rank(key: Key, words: tuple[str, ...]) -> int:
    name = key.name.lower()
    if name in words:
        return _EXACT
    if any(name.startswith(word) for word in words):
        return _PREFIX
    return _NAME if any(word in name for word in words) else _ELSEWHERE


def _hit(key: Key, own: str, words: tuple[str, ...]) -> Hit:
    """Return what is shown of an object: the line that has the first word which is not in its name."""
    name = key.name.lower()
    word = next((word for word in words if word not in name), words[0] if words else "")
    at = own.find(word) if word else 0
    if key.resource == _EVENTS and word in name:
        at = max(0, own.find(_MARKS["message"]))  # names of events tell nobody anything
    line = own[own.rfind("\n", 0, at) + 1 : own.find("\n", at)]
    return Hit(key, FIELDS[ord(line[0]) - _FIRST_MARK] if line else "name", line[1:])
