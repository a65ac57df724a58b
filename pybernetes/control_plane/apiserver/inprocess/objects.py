"""Lists and watches as objects instead of bytes."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import ref

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.view import SharedObject
from pybernetes.control_plane.apiserver.verbs.watched import Following, Watched
from pybernetes.control_plane.store.protocol import Damaged, Event, Record, StoreError
from pybernetes.lib.event_loop.large import size_of
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.stream import Stream

Change = tuple[str, Any]


class Objects(Response):
    """A list as a decoded value, its items shared with everybody in this process."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        super().__init__(b"")
        self.value = value


class Local:
    """What verbs do for a caller that takes objects instead of bytes."""

    def listing(self, kind: Kind, records: list[Record], meta: dict[str, Any]) -> Objects:
        """Return the answer to a list."""
        shared = kind.shared
        return Objects({
            "kind": kind.resource.list_kind,
            "apiVersion": kind.resource.api_version,
            "metadata": meta,
            "items": [shared(record) for record in records],
        })  # fmt: skip

    def watch(self, watched: Watched) -> LocalWatch:
        """Return the answer to a watch."""
        return LocalWatch(watched)


LOCAL = Local()


class LocalWatch(Stream):
    """An open watch that collects changes until they are asked for."""

    def __init__(self, watched: Watched) -> None:
        super().__init__()
        self._watched, self._kind, self._options = watched, watched.kind, watched.options
        self._store = watched.context.store
        self._changes: list[Change] = []
        self._sent = watched.start  # changes up to here are known
        self._waiter: asyncio.Future[None] | None = None
        self._watch: Following | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._counted = watched.context.metrics.events(watched.kind.resource)
        self._open_watches = watched.open_watches()

    def begin(self) -> None:
        """Take the state of now if it is asked for, and listen."""
        options = self._options
        self._open_watches.value += 1
        self._kind.watches.add(self.close)
        if options.timeout is not None and options.timeout > 0:
            self._timer = asyncio.get_running_loop().call_later(options.timeout, self._time_is_up)
        watched = self._watched
        if self._kind.awaits_webhook or (watched.begins_with_state and watched.takes_long()):
            beginning = watched.begin(self._state, self._listen, self._failed, lambda: self.closed)
            self._beginning = asyncio.get_running_loop().create_task(beginning)
        else:
            self._listen()

    def _failed(self, error: errors.StatusError) -> None:
        self._changes.append(("ERROR", error.body()))
        self.close()

    def _listen(self, state: tuple[list[Change], int] | None = None) -> None:
        try:
            self._start(state)
        except Damaged:
            self._failed(damage.list_status(self._kind, self._watched.records()))

    def _start(self, state: tuple[list[Change], int] | None) -> None:
        options = self._options
        at, initial = self._watched.start, options.initial_events
        if self._watched.begins_with_state:
            changes, at = state or (self._state(self._watched.records()), self._store.revision)
            self._changes.extend(changes)
        elif not at:
            at = self._store.revision
        if initial and options.bookmarks:
            self._changes.append(("BOOKMARK", self._bookmark(at, {"k8s.io/initial-events-end": "true"})))
        self._sent = at
        if self._changes:
            self._wake()
        self._watch = self._watched.follow(at, self._sink, self._failed, self._closed, self._prepare)

    def _state(self, records: list[Record]) -> list[Change]:
        shared = self._kind.shared
        return [("ADDED", shared(record)) for record in self._watched.matching(records)]

    def _prepare(self, event: Event) -> object:
        records = [record for record in (event.record, event.previous) if record is not None]
        return [self._kind.shared(record) for record in self._watched.matching(records)]

    def _time_is_up(self) -> None:
        """End the watch, saying how far it came, so that even a quiet one can be taken up again."""
        is_behind = self._watch is None or self._watch.is_behind
        if self._options.bookmarks and self._store.revision != self._sent and not is_behind:
            self._changes.append(("BOOKMARK", self._bookmark(self._store.revision)))
        self.close()

    def _bookmark(self, at: int, annotations: dict[str, str] | None = None) -> dict[str, Any]:
        resource = self._kind.resource
        meta: dict[str, Any] = {"resourceVersion": str(at)}
        if annotations:
            meta["annotations"] = annotations
        return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta}

    def _sink(self, events: list[Event]) -> None:
        changes, match, kind = self._changes, self._watched.match, self._kind
        self._sent = events[-1].revision
        for event in events:
            record, before = event.record, event.previous
            if match is None:
                if record is not None:
                    type_ = "ADDED" if before is None else "MODIFIED"
                    changes.append((type_, kind.shared(record)))
                else:
                    changes.append(("DELETED", _deleted(kind, event)))
            else:
                matched = before is not None and match(before)
                if record is not None and match(record):
                    changes.append(("MODIFIED" if matched else "ADDED", kind.shared(record)))
                elif matched:
                    changes.append(("DELETED", _deleted(kind, event)))
                else:
                    continue
            self._counted.sent(len((record or before).value))  # type: ignore[union-attr]
        if changes:
            self._wake()

    def _closed(self, error: StoreError | None) -> None:
        if isinstance(error, Damaged):
            self._failed(damage.watch_status(error, self._store))
            return
        if error is not None:
            status = errors.expired(f"too old resource version: {error}")
            self._changes.append(("ERROR", status.body()))
        self.close()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def batch(self) -> list[Change]:
        """Return the changes since the last call, at least one; none at all if the watch has ended."""
        while not self._changes and not self.closed:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        changes, self._changes = self._changes, []
        return changes

    def close(self) -> None:
        """End the watch; what has come up so far can still be had."""
        if self.closed:
            return
        self.closed = True
        self._open_watches.value -= 1
        self._kind.watches.discard(self.close)
        if self._timer is not None:
            self._timer.cancel()
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        self._wake()
        self.ended()


def _deleted(kind: Kind, event: Event) -> Any:
    """Return the last state of a deleted object with the version of its end, made once for all watchers."""
    if event.frames is None:
        event.frames = {}
    key = ("object", kind.form)
    held = event.frames.get(key)
    deleted = held() if held is not None else None
    if deleted is None:
        before = kind.shared(event.previous)  # type: ignore[arg-type]
        meta = {**before["metadata"], "resourceVersion": str(event.revision)}
        deleted = SharedObject(before, metadata=meta)
        if size := size_of(before):
            deleted.size = size
        event.frames[key] = ref(deleted)
    return deleted
