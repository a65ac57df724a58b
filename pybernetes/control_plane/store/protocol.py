"""What every store offers, and the errors that it raises.

StoreError
├── KeyExists        create of a key that is there
├── NotFound         update or delete of a key that is not
├── Conflict         the key was changed since the given revision
├── Compacted        the history back to the given revision is gone
├── FutureRevision   the given revision does not exist yet
├── Damaged          what is stored at a key cannot be read
├── CannotSeal       a value cannot be made ready for the disk (encrypted)
└── Unavailable      the data cannot be reached or written now
    ├── NoSpace      there is no room for it
    └── Unanswered   nobody said in time whether it was done
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

if TYPE_CHECKING:
    from pybernetes.control_plane.store.past import Past

# Puts the revision into a value; ValueError for a value that makes no sense.
Stamp = Callable[[bytes, int], bytes]
# Looks closely at a stamped value that somebody else may have written; ValueError if it makes no sense.
Check = Callable[[bytes], None]
Clock = Callable[[], float]
Sink = Callable[["list[Event]"], None]
Closed = Callable[["StoreError | None"], None]


class StoreError(Exception):
    """Anything that a store refuses or fails to do."""


class KeyExists(StoreError):
    def __init__(self, key: str) -> None:
        super().__init__(f"key exists: {key}")
        self.key = key


class NotFound(StoreError):
    def __init__(self, key: str) -> None:
        super().__init__(f"key not found: {key}")
        self.key = key


class Conflict(StoreError):
    def __init__(self, key: str, current: Record) -> None:
        super().__init__(f"key was changed: {key} is at revision {current.revision}")
        self.key = key
        self.current = current


class Compacted(StoreError):
    def __init__(self, revision: int, compacted: int) -> None:
        super().__init__(f"revision {revision} is gone: history starts at {compacted}")
        self.revision = revision
        self.compacted = compacted


class FutureRevision(StoreError):
    def __init__(self, revision: int, current: int) -> None:
        super().__init__(f"revision {revision} is ahead of the current revision {current}")
        self.revision = revision
        self.current = current


class Damaged(StoreError):
    def __init__(self, key: str, revision: int, problem: str, *, is_sealed: bool = False) -> None:
        super().__init__(f"{key} is damaged: {problem}")
        self.key = key
        self.revision = revision
        self.problem = problem
        self.is_sealed = is_sealed  # it cannot be unsealed; what is inside may be good


class CannotSeal(StoreError):
    pass


class Unavailable(StoreError):
    pass


class Unanswered(Unavailable):
    pass


class NoSpace(Unavailable):
    def __init__(self) -> None:
        # etcd's own text, by which clients and runbooks know it.
        super().__init__("etcdserver: mvcc: database space exceeded")


class Record:
    """One key with its value as handed out (stamped); never changed once made, except for `view`."""

    __slots__ = ("key", "value", "revision", "expires", "seal", "view")

    def __init__(
        self, key: str, value: bytes, revision: int, expires: float = 0.0, seal: object = None
    ) -> None:
        self.key = key
        self.value = value
        self.revision = revision
        self.expires = expires  # seconds since the epoch, 0 for never
        self.seal = seal  # what the value is sealed with where it is kept; None for as it is
        self.view: Any = None  # for readers: whatever they derived from the value

    def __repr__(self) -> str:
        return f"Record({self.key!r}, {len(self.value)} bytes, revision={self.revision})"


class DamagedRecord(Record):
    """A key whose value cannot be read: whoever asks for it gets Damaged, so that nobody serves it by mistake."""

    __slots__ = ("problem",)

    def __init__(self, key: str, revision: int, problem: str) -> None:
        self.key = key
        self.revision = revision
        self.expires = 0.0  # what does not make sense is kept until somebody decides
        self.seal = None
        self.view = None
        self.problem = problem

    @property
    def value(self) -> bytes:  # type: ignore[override]
        """Raise, since there is nothing that could be shown."""
        raise Damaged(self.key, self.revision, self.problem)

    def __repr__(self) -> str:
        return f"DamagedRecord({self.key!r}, {self.problem!r}, revision={self.revision})"


class SealedRecord(DamagedRecord):
    """A key whose value cannot be unsealed now; what is stored is remembered, because a key for it may still come."""

    __slots__ = ("stored", "kept_until")

    def __init__(self, key: str, stored: bytes, revision: int, expires: float, problem: str) -> None:
        super().__init__(key, revision, problem)
        self.stored, self.kept_until = stored, expires

    @property
    def value(self) -> bytes:  # type: ignore[override]
        """Raise, since there is nothing that could be shown."""
        raise Damaged(self.key, self.revision, self.problem, is_sealed=True)


class Event:
    """One change: `record` is None for a deletion, `previous` is None for a creation."""

    __slots__ = ("revision", "key", "record", "previous", "frames")

    def __init__(self, revision: int, key: str, record: Record | None, previous: Record | None) -> None:
        self.revision = revision
        self.key = key
        self.record = record
        self.previous = previous
        self.frames: Any = None  # for readers: encoded forms, shared by all watchers

    def __repr__(self) -> str:
        kind = "deleted" if self.record is None else "created" if self.previous is None else "updated"
        return f"Event({self.revision}, {kind} {self.key!r})"


@dataclass(slots=True)
class Page:
    """Part of a list: `remaining` records follow, `more` says whether there are any."""

    records: list[Record]
    more: bool
    remaining: int
    revision: int


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """How much history is kept for old revisions and resumed watches: the tightest limit wins."""

    seconds: float = 300.0
    bytes: int = 64 << 20
    events: int = 200_000

    def within(self, room: int) -> HistoryLimits:
        """Return limits for a process that has so much memory for all that others make it keep."""
        return replace(self, bytes=min(self.bytes, room // 8))


@dataclass(frozen=True, slots=True)
class SnapshotStatus:
    """What `snapshot status` prints about a file."""

    hash: int
    revision: int
    total_keys: int
    total_size: int


class Sealing(Protocol):
    """Makes values ready for the disk and readable again: the one place between what is served and what is kept."""

    def seal(self, key: str, value: bytes) -> tuple[bytes, object]:
        """Return what is to be stored, and what it is sealed with; CannotSeal if that fails."""
        ...

    def unseal(self, key: str, stored: bytes) -> tuple[bytes, object]:
        """Return the value, and what it was sealed with; ValueError if that fails."""
        ...

    def current(self, key: str) -> object:
        """Return what a value would be sealed with now."""
        ...

    async def prepare(self, stored: Iterable[bytes]) -> None:
        """Fetch what is needed to unseal values, where that takes time."""


class Place:
    """A directory of keys, which ends with "/"; ``changed`` grows with every change in it."""

    __slots__ = ("changed",)

    def __init__(self, changed: int) -> None:
        self.changed = changed


class Watch(ABC):
    """A running watch; after close() the sink is not called again."""

    @abstractmethod
    def close(self) -> None:
        """End the watch without calling its `closed`."""


def identity(value: bytes, revision: int) -> bytes:
    """Return the value unchanged: the stamp of stores that stamp nothing."""
    return value


def accept(value: bytes) -> None:
    """Take any value: the check of stores that know nothing about values."""


class Store(ABC):
    """Keys and values under one growing revision.

    Reads are synchronous and come from memory. Writes return once they are durable and visible here.
    Everything is called from one event loop.
    """

    local: bool = True  # this process is the only writer: reads are linearizable as they are
    stamp: Stamp
    clock: Clock

    @property
    @abstractmethod
    def revision(self) -> int:
        """The revision of the visible state."""

    @property
    @abstractmethod
    def compacted(self) -> int:
        """The oldest revision that can still be listed and watched from."""

    @abstractmethod
    async def start(self) -> None:
        """Load the state; call before anything else."""

    @abstractmethod
    async def close(self) -> None:
        """Finish pending writes, end every watch and let go of files and connections."""

    @abstractmethod
    def get(self, key: str) -> Record | None:
        """Return the record of a key, or None."""

    @abstractmethod
    def list(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Page:
        """Return records under a prefix in key order, from `start` (inclusive), now or as of a revision."""

    @abstractmethod
    def past(self, prefix: str, *, start: str = "", limit: int = 0, revision: int) -> Past:
        """Return what a list of an older revision is made from, to be made wherever there is time for it."""

    @abstractmethod
    def damaged(self) -> Mapping[str, str]:
        """Return what is wrong with the records that cannot be read, by key."""

    @abstractmethod
    def is_stale(self, record: Record) -> bool:
        """Return whether a record would be sealed otherwise if it were written now."""

    @abstractmethod
    async def unseal_again(self) -> int:
        """Try again what could not be unsealed, and return how many records can be read now; their watches start over."""

    @abstractmethod
    def changed(self, prefix: str) -> int:
        """Return a revision that grows with every change under a prefix, for callers that cache lists."""

    @abstractmethod
    def place(self, directory: str) -> Place:
        """Return what knows when something last changed in a directory, for callers that ask with every request."""

    @abstractmethod
    def count(self, prefix: str) -> int:
        """Return how many keys are under a prefix."""

    @abstractmethod
    def received(self) -> dict[str, int]:
        """Return how many changes came in since the start, by the directory of their keys.

        Those of a directory that is no more count for the one around it.
        """

    @abstractmethod
    def sync(self) -> Awaitable[None]:
        """Begin to see to it that the visible state is at least as new as this moment; it is once this has been waited for."""

    @abstractmethod
    async def wait(self, revision: int, timeout: float) -> bool:
        """Wait until the visible state has reached a revision; False when the timeout passed first."""

    @abstractmethod
    async def create(self, key: str, value: bytes, *, ttl: int = 0) -> Record:
        """Write a new key; KeyExists when it is there. With a ttl in seconds it deletes itself."""

    @abstractmethod
    async def update(self, key: str, value: bytes, revision: int, *, ttl: int = 0) -> Record:
        """Replace a value if the key is still at `revision`; NotFound or Conflict otherwise."""

    @abstractmethod
    async def delete(self, key: str, revision: int) -> Event:
        """Delete a key if it is still at `revision` (0: whatever it is); NotFound or Conflict."""

    @abstractmethod
    def watch(self, prefix: str, revision: int, sink: Sink, *, closed: Closed | None = None) -> Watch:
        """Send every event after `revision` (0: from now) to `sink`, in order, one call per commit.

        A prefix ends with "/"; anything else is one exact key. What already happened is delivered before
        this returns. The list given to `sink` is shared: do not change it. `closed` is called when the
        store ends the watch: with None at close(), with the error otherwise. Compacted when too old.
        """

    @abstractmethod
    async def compact(self, revision: int) -> None:
        """Forget the history before a revision."""

    @abstractmethod
    async def health(self, seconds: float = 2.0) -> None:
        """Raise Unavailable when reads or writes would fail, or when that is not known within this time."""

    @abstractmethod
    async def space(self) -> None:
        """Raise NoSpace while writes are refused for want of room."""

    @abstractmethod
    async def snapshot_save(self, path: Path) -> SnapshotStatus:
        """Write a consistent copy of the whole store to a new file."""


wall_clock: Clock = time.time


def steady(clock: Clock) -> Clock:
    """Return the clock for durations that goes with a clock: the wall clock may be set, one of a test is its own."""
    return time.monotonic if clock is wall_clock else clock


class CommonOptions(TypedDict, total=False):
    """What every driver takes: how values are sealed, stamped and checked, the time, and how much history is kept."""

    sealing: Sealing | None
    stamp: Stamp
    check: Check
    clock: Clock
    history: HistoryLimits | None
