"""Keeps something in memory in step with what the store has under a prefix."""

from __future__ import annotations

import logging
from collections.abc import Callable

from pybernetes.control_plane.store.protocol import Damaged, Event, Record, Store, StoreError

log = logging.getLogger(__name__)
# Called with a key and what it holds now: None when it is gone.
Change = Callable[[str, Record | None], None]


class PrefixFollower:
    """Calls ``change`` for everything that is under the prefix, then for everything that happens there.

    ``lost`` is called when something may have been missed, before everything is read again: a key that was deleted and
    made anew meanwhile is told of once only.
    """

    def __init__(
        self, store: Store, prefix: str, change: Change, lost: Callable[[], object] = lambda: None
    ) -> None:
        self._store, self._prefix, self._change, self._lost = store, prefix, change, lost
        self._known: set[str] = set()

    def start(self) -> None:
        """Read what is there and watch; everything happens in this call, so nothing is missed in between."""
        page = self._store.list(self._prefix)
        present = {record.key for record in page.records}
        for key in self._known - present:
            self._tell(key, None)
        self._known = present
        for record in page.records:
            self._tell(record.key, record)
        self._store.watch(self._prefix, page.revision, self._take, closed=self._ended)

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if event.record is None:
                self._known.discard(event.key)
            else:
                self._known.add(event.key)
            self._tell(event.key, event.record)

    def _tell(self, key: str, record: Record | None) -> None:
        try:
            self._change(key, record)
        except Damaged as error:
            log.error("%s: it counts as gone until it is replaced", error)
            self._change(key, None)
        except Exception:
            # One object that makes no sense must not cost the others; it counts as gone.
            log.exception("cannot make sense of %s", key)
            self._change(key, None)

    def _ended(self, error: StoreError | None) -> None:
        # The store has lost its place and what happened meanwhile: read everything again.
        if error is not None:
            self._lost()
            self.start()
