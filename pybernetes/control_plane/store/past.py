"""A list as it was at an older revision: the state of now, with what happened since undone. No input or output."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from pybernetes.control_plane.store.protocol import Event, Page, Record

# Above so many events since then the list is made from copies of what is there, so that others can go on meanwhile.
MANY = 200


class Past:
    """What a list of an older revision is made from: ``page`` can be called on another thread if it is much.

    ``records`` has the keys of now, in their order in ``keys`` from where the list begins; ``events`` is what happened since,
    oldest first.
    """

    __slots__ = ("_begin", "_events", "_keys", "_limit", "_records", "_span", "_values", "revision")

    def __init__(
        self,
        records: Mapping[str, Record],
        keys: Iterable[str],
        span: int,
        events: Sequence[Event],
        begin: str,
        limit: int,
        revision: int,
    ) -> None:
        self._records, self._keys, self._span, self._events = records, keys, span, events
        self._begin, self._limit, self.revision = begin, limit, revision
        if self.is_much:
            self._keys = list(keys)
            self._values = list(map(records.__getitem__, self._keys))

    @property
    def is_much(self) -> bool:
        """Whether making the list takes long, and does not need anything that others change."""
        return len(self._events) > MANY

    def page(self) -> Page:
        """Return the list."""
        records, limit = self._records, self._limit
        if self.is_much:
            records = dict(zip(self._keys, self._values, strict=True))
        undone: dict[str, Record | None] = {}
        for event in self._events:
            if event.key >= self._begin:
                undone.setdefault(event.key, event.previous)  # the first change is the one from what was then
        gone = sorted(key for key, record in undone.items() if record is not None and key not in records)
        born = sum(1 for key, record in undone.items() if record is None and key in records)
        total = self._span + len(gone) - born
        keys = heapq.merge(self._keys, gone) if gone else self._keys
        candidates: Iterator[Record] = (
            record for key in keys if (record := undone[key] if key in undone else records[key]) is not None
        )
        page = list(islice(candidates, limit) if limit else candidates)
        remaining = total - len(page)
        return Page(page, remaining > 0, remaining, self.revision)
