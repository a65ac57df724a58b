"""The visible state in memory: records, recent history and watchers. No input or output.

A driver calls `apply` with each committed batch. Watchers hang on nodes, one per watched or written
directory of the key space, so that finding who wants an event is a walk over the few ancestors of its
key, and all watchers of a node share one list of events.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import insort
from collections.abc import Iterable, Iterator
from itertools import islice

from sortedcontainers import SortedDict

from pybernetes.control_plane.store.history import History
from pybernetes.control_plane.store.past import Past
from pybernetes.control_plane.store.protocol import (
    Clock,
    Closed,
    Compacted,
    Damaged,
    DamagedRecord,
    Event,
    FutureRevision,
    HistoryLimits,
    Page,
    Place,
    Record,
    Sink,
    StoreError,
    Watch,
    wall_clock,
)

# Named here because `list` is a method in the class below.
Events = list[Event]
Nodes = list["Node"]
Waiters = list[tuple[int, int, "asyncio.Future[bool]"]]

log = logging.getLogger(__name__)

# How many directories without watchers or records may stay before they are swept out.
SPARE_NODES = 2_000


class Node(Place):
    """One directory (or one watched key): when it last changed and who watches it."""

    __slots__ = ("is_held", "pending", "received", "watches")

    def __init__(self, changed: int) -> None:
        super().__init__(changed)
        self.is_held = False  # by somebody who looks at it without asking for it again
        self.received = 0  # changes of the keys that are in this very directory
        self.watches: dict[MirrorWatch, None] = {}
        self.pending: list[Event] = []


class MirrorWatch(Watch):
    """A watcher of one node."""

    __slots__ = ("mirror", "prefix", "sink", "closed", "open")

    def __init__(self, mirror: Mirror, prefix: str, sink: Sink, closed: Closed | None) -> None:
        self.mirror = mirror
        self.prefix = prefix
        self.sink = sink
        self.closed = closed
        self.open = True

    def close(self) -> None:
        """End the watch without calling its `closed`."""
        if self.open:
            self.open = False
            self.mirror.forget(self)

    def end(self, error: StoreError | None) -> None:
        """End the watch from the store's side."""
        if self.open:
            self.close()
            if self.closed is not None:
                try:
                    self.closed(error)
                except Exception:
                    log.exception("telling the watcher of %s about the end of its watch failed", self.prefix)


def prefix_end(prefix: str) -> str | None:
    """Return the first key after all keys with a prefix; None when there is no end."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else None


def ancestors(key: str) -> Iterator[str]:
    """Return the directories that hold a key, each ending with "/", the widest first."""
    position = key.find("/")
    while position >= 0:
        yield key[: position + 1]
        position = key.find("/", position + 1)


class Mirror:
    """Records by key, the events that led here, and the watchers that want the next ones."""

    def __init__(self, *, clock: Clock = wall_clock, history: HistoryLimits | None = None) -> None:
        self.records: SortedDict = SortedDict()
        self.revision = 0
        self.history = History(clock, history or HistoryLimits())
        self._root = Node(0)
        self._nodes: dict[str, Node] = {"": self._root}
        self._paths: dict[str, tuple[Node, ...]] = {}  # directory of a key -> the nodes to tell
        self._watched_keys = 0
        self._spare_nodes = SPARE_NODES
        self._damaged: dict[str, DamagedRecord] = {}  # some may have been replaced since
        self._waiters: Waiters = []
        self._waiter_number = 0

    @property
    def compacted(self) -> int:
        """The revision up to which history is forgotten."""
        return self.history.compacted

    # --- reading

    def list(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Page:
        """Return records under a prefix in key order, now or as of a revision."""
        records = self.records
        begin = max(prefix, start)
        end = prefix_end(prefix)
        if revision and revision != self.revision:
            return self.past(prefix, start, limit, revision).page()
        keys = records.irange(begin, end, (True, False))
        if not limit:
            return Page(list(map(records.__getitem__, keys)), False, 0, self.revision)
        page = list(map(records.__getitem__, islice(keys, limit)))
        remaining = 0
        if len(page) == limit:
            remaining = max(0, self._span(begin, end) - limit)
        return Page(page, remaining > 0, remaining, self.revision)

    def count(self, prefix: str) -> int:
        """Return how many keys are under a prefix."""
        return self._span(prefix, prefix_end(prefix))

    def changed(self, prefix: str) -> int:
        """Return the revision of the last change under a prefix, or a later one when that is not known."""
        node = self._nodes.get(prefix)
        if node is None:
            node = self._above(prefix)
            if prefix.endswith("/"):
                # Who asks once asks again: from now on changes elsewhere are not taken for changes here.
                if len(self._nodes) > self._spare_nodes:
                    self._sweep()
                self._nodes[prefix] = Node(node.changed)
        return node.changed

    def place(self, directory: str) -> Place:
        """Return a directory, which is kept from now on."""
        node = self._nodes.get(directory)
        if node is None:
            node = self._nodes[directory] = Node(self._above(directory).changed)
        node.is_held = True
        return node

    def received(self) -> dict[str, int]:
        """Return how many changes came in, by the directory of their keys."""
        return {name: node.received for name, node in self._nodes.items() if node.received}

    def _above(self, name: str) -> Node:
        """Return the nearest directory around a name that is known."""
        node = None
        while node is None:
            name = name[: name.rfind("/", 0, len(name) - 1) + 1]
            node = self._nodes.get(name)
        return node

    def _span(self, begin: str, end: str | None) -> int:
        bisect = self.records.bisect_left
        stop: int = len(self.records) if end is None else bisect(end)
        first: int = bisect(begin)
        return max(0, stop - first)

    def past(self, prefix: str, start: str, limit: int, revision: int) -> Past:
        """Return what a list of an older revision is made from."""
        self.check(revision)
        begin, end = max(prefix, start), prefix_end(prefix)
        keys = self.records.irange(begin, end, (True, False))
        events = self.history.after(revision, prefix)
        return Past(self.records, keys, self._span(begin, end), events, begin, limit, revision)

    def check(self, revision: int) -> None:
        """Raise when a revision is not between the oldest kept and the current one."""
        if revision < self.compacted:
            raise Compacted(revision, self.compacted)
        if revision > self.revision:
            raise FutureRevision(revision, self.revision)

    def last_event(self, key: str) -> Event | None:
        """Return the last change of a key, if history still has it."""
        return self.history.last(key)

    def problems(self) -> dict[str, str]:
        """Return what is wrong with the records that cannot be read, by key."""
        records = self.records
        current = {key: record for key, record in self._damaged.items() if records.get(key) is record}
        self._damaged = current
        return {key: record.problem for key, record in current.items()}

    # --- changing

    def load(self, records: Iterable[Record], revision: int) -> None:
        """Start from a complete state without history."""
        self.records = SortedDict({record.key: record for record in records})
        self._damaged = {
            record.key: record for record in self.records.values() if isinstance(record, DamagedRecord)
        }
        self.history.clear(revision)
        self.revision = revision
        for node in self._nodes.values():
            node.changed = revision
        self._wake()

    def apply(self, events: Events) -> None:
        """Take in one committed batch, then tell the watchers and those who wait."""
        records = self.records
        touched: Nodes = []
        size = 0
        for event in events:
            key, record = event.key, event.record
            try:
                if record is None:
                    records.pop(key, None)
                else:
                    records[key] = record
                    size += len(record.value)
                if event.previous is not None:
                    size += len(event.previous.value)
            except Damaged:
                if isinstance(record, DamagedRecord):
                    log.error("%s of revision %d cannot be read: %s", key, record.revision, record.problem)
                    self._damaged[key] = record
            nodes = self._paths.get(key[: key.rfind("/") + 1])
            if nodes is None:
                nodes = self._add_path(key)
            nodes[-1].received += 1
            for node in nodes:
                node.changed = event.revision
                if node.watches:
                    if not node.pending:
                        touched.append(node)
                    node.pending.append(event)
            if self._watched_keys and (exact := self._nodes.get(key)) is not None:
                exact.changed = event.revision
                if not exact.pending:
                    touched.append(exact)
                exact.pending.append(event)
        self.history.add(events, size)
        self.revision = events[-1].revision
        if touched:
            self._deliver(touched)
        if self._waiters:
            self._wake()

    def replace(self, records: Iterable[Record]) -> None:
        """Put records in the place of those that could not be read; whoever watches there starts over."""
        touched: dict[Node, None] = {}
        for record in records:
            self.records[record.key] = record
            if isinstance(record, DamagedRecord):
                self._damaged[record.key] = record
            for name in ("", *ancestors(record.key), record.key):
                if (node := self._nodes.get(name)) is not None:
                    touched[node] = None
        error = Compacted(self.revision, self.revision)
        for watch in [watch for node in touched for watch in node.watches]:
            watch.end(error)

    def advance(self, revision: int) -> None:
        """Note that the state stayed as it is up to a revision."""
        if revision > self.revision:
            self.revision = revision
            self._wake()

    def compact(self, revision: int) -> None:
        """Forget the history up to a revision."""
        if revision > self.revision:
            raise FutureRevision(revision, self.revision)
        self.history.compact(revision)
        if len(self._nodes) <= SPARE_NODES:  # of more it would take too long to do this now and then
            self._sweep()

    # --- watching

    def watch(self, prefix: str, revision: int, sink: Sink, closed: Closed | None = None) -> MirrorWatch:
        """Deliver what happened under a prefix after a revision, then everything that will."""
        missed: Events = []
        if revision and revision < self.revision:
            self.check(revision)
            exact = not prefix.endswith("/") and prefix != ""
            events = self.history.after(revision, prefix)
            missed = [event for event in events if event.key == prefix] if exact else events
        if revision > self.revision:
            sink = only_after(revision, sink)
        watch = MirrorWatch(self, prefix, sink, closed)
        node = self._nodes.get(prefix)
        if node is None:
            # No known path can lead through a node that was missing, so all of them stay valid.
            node = self._nodes[prefix] = Node(self.changed(prefix))
        if not prefix.endswith("/") and prefix and not node.watches:
            self._watched_keys += 1
        node.watches[watch] = None
        if missed:
            self._send(watch, missed)
        return watch

    def forget(self, watch: MirrorWatch) -> None:
        """Take a watch off its node."""
        node = self._nodes.get(watch.prefix)
        if node is None or watch not in node.watches:
            return
        del node.watches[watch]
        if not node.watches and watch.prefix and not watch.prefix.endswith("/"):
            self._watched_keys -= 1
            del self._nodes[watch.prefix]

    def end_watches(self, error: StoreError | None) -> None:
        """End every watch from the store's side."""
        for watch in [watch for node in self._nodes.values() for watch in node.watches]:
            watch.end(error)

    def _deliver(self, touched: Nodes) -> None:
        # Everything is collected before the first call: a sink may open and close watches.
        deliveries = [(list(node.watches), node.pending) for node in touched]
        for node in touched:
            node.pending = []
        for watches, events in deliveries:
            for watch in watches:
                if watch.open:
                    self._send(watch, events)

    def _send(self, watch: MirrorWatch, events: Events) -> None:
        try:
            watch.sink(events)
        except Damaged as error:
            watch.end(error)
        except Exception:
            # A sink that failed has a gap; ending its watch makes its reader start over.
            log.exception("watch of %s failed and is ended", watch.prefix)
            watch.end(StoreError("the watch's sink failed"))

    # --- directories

    def _add_path(self, key: str) -> tuple[Node, ...]:
        directory = key[: key.rfind("/") + 1]
        if len(self._nodes) > self._spare_nodes:
            self._sweep()
        nodes = [self._root]
        for name in ancestors(directory):
            node = self._nodes.get(name)
            if node is None:
                node = self._nodes[name] = Node(nodes[-1].changed)
            nodes.append(node)
        path = self._paths[directory] = tuple(nodes)
        return path

    def _sweep(self) -> None:
        """Drop the directories that nobody watches and no record is in, as of deleted namespaces."""
        for name, node in sorted(self._nodes.items(), reverse=True):  # what is below a directory before it
            if name and not (node.watches or node.pending or node.is_held or self.count(name)):
                del self._nodes[name]
                if node.received:
                    self._above(name).received += node.received
        self._paths.clear()
        self._spare_nodes = max(SPARE_NODES, 2 * len(self._nodes))

    # --- waiting

    def reached(self, revision: int) -> asyncio.Future[bool]:
        """Return a future that resolves once the state has reached a revision."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if revision <= self.revision:
            future.set_result(True)
        else:
            self._waiter_number += 1
            insort(self._waiters, (-revision, -self._waiter_number, future))
        return future

    def _wake(self) -> None:
        waiters = self._waiters
        while waiters and -waiters[-1][0] <= self.revision:
            future = waiters.pop()[2]
            if not future.done():
                future.set_result(True)


def only_after(revision: int, sink: Sink) -> Sink:
    """Return a sink that skips events up to a revision, for watches that start ahead of the visible state."""

    def filtered(events: list[Event]) -> None:
        wanted = [event for event in events if event.revision > revision]
        if wanted:
            sink(wanted)

    return filtered
