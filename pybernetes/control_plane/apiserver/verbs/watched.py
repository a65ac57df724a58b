"""What a watch is about, whoever its changes go to: a client on a connection, or one in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.observability.metrics import Gauge
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import ListOptions
from pybernetes.control_plane.apiserver.storage.selection import Match
from pybernetes.control_plane.apiserver.verbs.event_conversion import EventConverter, Sink
from pybernetes.control_plane.store.protocol import Closed, Compacted, Damaged, Record, Watch


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

    def matching(self) -> list[Record]:
        """Return what is there now and matches."""
        match = self.match
        return [record for record in self.records() if match is None or match(record)]

    async def convert(self) -> None:
        """Have all that is there converted by the webhook; nothing is left when this returns."""
        while self.kind.unconverted(records := self.records()):
            await self.kind.convert(records)

    async def begin(
        self,
        listen: Callable[[], None],
        failed: Callable[[errors.StatusError], None],
        is_closed: Callable[[], bool],
    ) -> None:
        """Begin once all that is there now has been converted, if there is still somebody who listens."""
        try:
            await self.convert()
        except errors.StatusError as error:
            failed(error)
        except Damaged:
            failed(damage.list_status(self.kind, self.records()))
        else:
            if not is_closed():
                listen()

    def follow(
        self, at: int, sink: Sink, failed: Callable[[errors.StatusError], None], closed: Closed
    ) -> Watch | None:
        """Send the changes after a version to ``sink``, converted where a webhook does that."""
        if self.kind.awaits_webhook:
            sink = EventConverter(self.kind, sink, failed, self.context.store).take
        try:
            return self.context.store.watch(self.prefix, at, sink, closed=closed)
        except Compacted as error:
            closed(error)
            return None

    def open_watches(self) -> Gauge:
        """Return the gauge of the open watches of this sort."""
        kind = self.kind
        scope = "namespace" if self.prefix != kind.prefix and kind.namespaced else "cluster"
        return self.context.metrics.long_running("watch", kind.resource, "", scope)
