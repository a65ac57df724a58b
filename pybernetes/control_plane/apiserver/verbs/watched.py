"""What a watch is about, whoever its changes go to: a client on a connection, or one in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.observability.metrics import Gauge
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import ListOptions
from pybernetes.control_plane.apiserver.storage.selection import Match
from pybernetes.control_plane.apiserver.verbs.event_preparation import EventPreparation, Prepare, Sink
from pybernetes.control_plane.store.protocol import Closed, Compacted, Damaged, Record, Watch
from pybernetes.lib.event_loop import off_loop

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Watched:
    """Objects of a kind under a prefix, or the one at a key, that match; ``start`` is the version to begin after."""

    context: ServerContext
    kind: Kind
    prefix: str
    match: Match | None
    options: ListOptions
    start: int

    def records(self) -> list[Record]:
        """Return what is there now, matching or not."""
        store = self.context.store
        if self.prefix.endswith("/"):
            return store.list(self.prefix).records
        record = store.get(self.prefix)
        return [] if record is None else [record]

    def matching(self, records: list[Record]) -> list[Record]:
        """Return those of the records that match."""
        match = self.match
        return records if match is None else [record for record in records if match(record)]

    @property
    def begins_with_state(self) -> bool:
        """Whether all that is there now comes first, as if it had just been added."""
        initial = self.options.initial_events
        return bool(initial or (initial is None and not self.start))

    def takes_long(self) -> bool:
        """Return whether so much is there, or a webhook has to convert it, that nobody can wait for it to be read."""
        if self.kind.awaits_webhook:
            return True
        records = self.records()
        try:
            return (
                len(records) > off_loop.MANY or sum(len(record.value) for record in records) > off_loop.LARGE
            )
        except Damaged:
            return False  # which is found out at once

    async def state(self, read: Callable[[list[Record]], State]) -> tuple[State, int]:
        """Return what ``read`` makes, beside the event loop, of all that is there now, and the revision of that."""
        await self.convert()
        records, at = self.records(), self.context.store.revision
        return await off_loop.beside(read, records), at

    async def convert(self) -> None:
        """Have all that is there converted by the webhook; nothing is left when this returns."""
        while self.kind.unconverted(records := self.records()):
            await self.kind.convert(records)

    async def begin(
        self,
        read: Callable[[list[Record]], State],
        listen: Callable[[tuple[State, int] | None], None],
        failed: Callable[[errors.StatusError], None],
        is_closed: Callable[[], bool],
    ) -> None:
        """Begin once all that is there now was read, or only converted, if there is still somebody who listens."""
        try:
            state = await self.state(read) if self.begins_with_state else None
            if state is None:
                await self.convert()
        except errors.StatusError as error:
            failed(error)
        except Damaged:
            failed(damage.list_status(self.kind, self.records()))
        else:
            if not is_closed():
                listen(state)

    def follow(
        self,
        at: int,
        sink: Sink,
        failed: Callable[[errors.StatusError], None],
        closed: Closed,
        prepare: Prepare | None,
    ) -> Following | None:
        """Send the changes after a version to ``sink``, converted where a webhook does that.

        ``prepare`` reads what the sink needs of a large change; None if it needs nothing but its bytes.
        """
        preparation = None
        if self.kind.awaits_webhook or prepare is not None:
            preparation = EventPreparation(self.kind, sink, failed, self.context.store, prepare)
            sink = preparation.take
        try:
            return Following(self.context.store.watch(self.prefix, at, sink, closed=closed), preparation)
        except Compacted as error:
            closed(error)
            return None

    def scope(self) -> str:
        """Return what is watched, as metrics name it."""
        return "namespace" if self.prefix != self.kind.prefix and self.kind.namespaced else "cluster"

    def open_watches(self) -> Gauge:
        """Return the gauge of the open watches of this sort."""
        return self.context.metrics.long_running("watch", self.kind.resource, "", self.scope())


class Following:
    """An open watch of the store, and the changes that came and were not passed on yet."""

    __slots__ = ("_preparation", "_watch")

    def __init__(self, watch: Watch, preparation: EventPreparation | None) -> None:
        self._watch, self._preparation = watch, preparation

    @property
    def is_behind(self) -> bool:
        """Whether changes wait: nobody may be told that all up to the current version has been sent."""
        return self._preparation is not None and self._preparation.is_busy

    def close(self) -> None:
        """End it."""
        self._watch.close()
