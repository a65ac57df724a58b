"""What every controller is: a kind, what it depends on, and a function that makes the world match.

A subclass names its ``kind`` and what it ``owns``, maps other kinds that it ``watches`` to its own keys, and has
``reconcile``. Watching, de-duplication, backoff, metrics and read-your-own-writes are here, once. A controller without
a kind works on the keys that it gives to ``enqueue``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, StatusError
from pybernetes.client.noted_writes import UNCERTAIN, Written, writes
from pybernetes.client.refs import Kindlike, Ref, as_ref
from pybernetes.lib.clock import Timer
from pybernetes.runtime.cache import Cache, IndexFunction, key_of
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.queue import FIRST_DELAY, LONGEST_DELAY, Closed, Queue
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
Mapper = Callable[[Object], Iterable[str]]
# When a write has not come back to the cache after this time, the cache is filled anew.
_DOUBT_SECONDS = 10.0


class Controller:
    """A loop over keys. Raise in ``reconcile`` to be called again with backoff; return seconds to be called then."""

    name: ClassVar[str]
    kind: ClassVar[Kindlike | None] = None
    owns: ClassVar[Sequence[Kindlike]] = ()
    indexes: ClassVar[Mapping[Kindlike, Sequence[IndexFunction]]] = {}
    # Which objects of a kind matter, if not all: arguments of Informers.get such as namespace, labels and fields.
    selects: ClassVar[Mapping[Kindlike, Mapping[str, Any]]] = {}
    workers: int = 5
    # How long a key that failed waits for the first time; twice as long each time after that, up to the longest.
    first_delay: float = FIRST_DELAY
    longest_delay: float = LONGEST_DELAY

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.client = runtime.client
        self.clock = runtime.clock
        self.metrics = runtime.metrics.reconcile(self.name)
        self.queue = Queue(
            runtime.clock,
            first_delay=self.first_delay,
            longest_delay=self.longest_delay,
            metrics=runtime.metrics.queue(self.name),
        )
        self._used: dict[Ref, Informer] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._selects = {as_ref(kind): selection for kind, selection in self.selects.items()}
        self._ref = as_ref(self.kind) if self.kind is not None else None
        for kind, functions in self.indexes.items():
            for function in functions:
                self.cache(kind).add_index(function)
        if self._ref is not None:
            self.cache(self._ref).add_handler(self._own_changed)
        for kind in self.owns:
            self.cache(kind).add_handler(self._owned_changed)
        for kind, mapper in self.watches().items():
            self.cache(kind).add_handler(self._mapped(mapper))

    @classmethod
    def variant(cls, **changes: Any) -> type[Self]:
        """Return the same controller with another name, kind or selection, for what is known at run time only."""
        return type(cls.__name__, (cls,), changes)

    # -- for subclasses ----------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> float | None:
        """Make the world match the object of a key, which may be gone."""
        raise NotImplementedError

    def watches(self) -> Mapping[Kindlike, Mapper]:
        """Return other kinds whose changes matter, each with a function from an object to keys of this controller."""
        return {}

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Return whether a change of one of this controller's own objects needs a reconcile."""
        return True

    def cache(self, kind: Kindlike) -> Informer:
        """Return the cache of a kind, up to date with what this controller wrote for the key at hand."""
        ref = as_ref(kind)
        informer = self._used.get(ref)
        if informer is None:
            informer = self._used[ref] = self.runtime.informers.get(ref, **self._selects.get(ref, {}))
        return informer

    @property
    def objects(self) -> Cache:
        """The cache of this controller's own kind."""
        assert self._ref is not None, f"{self.name} has no kind of its own"
        return self._used[self._ref]

    def enqueue(self, key: str, after: float = 0.0) -> None:
        """Add a key to the queue, now or after some seconds."""
        self.queue.add_after(key, after)

    # -- changes become keys -----------------------------------------------------------------------------

    def _own_changed(self, old: Object | None, new: Object | None) -> None:
        if self.concerns(old, new):
            key = key_of(new or old)  # type: ignore[arg-type]
            if new is None:
                self.queue.drop_later(key)
            self.queue.add(key)

    def _owned_changed(self, old: Object | None, new: Object | None) -> None:
        before = self.owner_key(old) if old is not None else None
        after = self.owner_key(new) if new is not None else None
        if after is not None:
            self.queue.add(after)
        if before is not None and before != after:
            self.queue.add(before)

    def owner_key(self, obj: Object) -> str | None:
        """Return the key of the object of this controller's kind that manages an object, if one does."""
        meta, ref = obj["metadata"], self._ref
        for owner in meta.get("ownerReferences") or ():
            if owner.get("controller"):
                if ref is None or (owner["kind"], owner["apiVersion"].rpartition("/")[0]) != (
                    ref.kind,
                    ref.group,
                ):
                    return None
                return f"{meta['namespace']}/{owner['name']}" if ref.namespaced else owner["name"]
        return None

    def _mapped(self, mapper: Mapper) -> Callable[[Object | None, Object | None], None]:
        add = self.queue.add

        def handler(old: Object | None, new: Object | None) -> None:
            if new is not None:
                for key in mapper(new):
                    add(key)
            if old is not None:
                for key in mapper(old):
                    add(key)

        return handler

    # -- running -----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Reconcile until cancelled, once the caches are filled."""
        for informer in list(self._used.values()):
            await informer.wait_synced()
        await self.prepare()
        log.info("controller %s is at work", self.name)
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self.workers):
                    group.create_task(self._work(), name=f"{self.name} {number}")
        finally:
            self.queue.close()

    async def prepare(self) -> None:
        """Prepare for the first reconcile; called once, when the caches are filled."""

    async def _work(self) -> None:
        queue, clock, turn = self.queue, self.clock, self.runtime.turn
        while True:
            try:
                key = await queue.get()
            except Closed:
                return
            noted: list[Written] = []
            writes.set(noted)
            started = clock.monotonic()
            try:
                self._settle(key, await self.reconcile(key))
            except Exception as error:
                self._failed(key, error)
            now = clock.monotonic()
            self.metrics.seconds.observe(now - started)
            if noted and self._hold(key, noted):
                queue.hold(key)
            else:
                queue.done(key)
            writes.set(None)  # a worker that rests holds nothing of its last object
            del noted
            if turn.is_over(now):
                await asyncio.sleep(0)

    def _settle(self, key: str, after: float | None) -> None:
        self.queue.forget(key)
        if after is None:
            self.metrics.results["success"] += 1
        else:
            self.metrics.results["requeue_after"] += 1
            self.queue.add_after(key, after)

    def _failed(self, key: str, error: Exception) -> None:
        self.metrics.results["error"] += 1
        delay = self.queue.add_rate_limited(key)
        if isinstance(error, Conflict):  # somebody else was faster: nothing to tell
            log.debug("%s: %s: %s; again in %g s", self.name, key, error, delay)
        elif isinstance(error, (StatusError, OSError)):
            log.warning("%s: %s: %s; again in %g s", self.name, key, error, delay)
        else:
            log.error("%s: %s failed; again in %g s", self.name, key, delay, exc_info=error)

    # -- read your own writes ----------------------------------------------------------------------------

    def _hold(self, key: str, noted: list[Written]) -> bool:
        """Hold a key back until the caches have seen what was written for it; return False if they have already."""
        hold = _Hold(self, key)
        newest: dict[Informer, int] = {}
        for ref, namespace, name, version, uid, labels in noted:
            informer = self._used.get(ref)
            if informer is None:
                continue
            if version == UNCERTAIN:
                hold.look_anew(informer)
                continue
            written = f"{namespace}/{name}" if namespace else name
            if not informer.covers(namespace, written, labels):
                continue
            if version:
                if version > newest.get(informer, 0):
                    newest[informer] = version
                continue
            obj = informer.get(written)
            if (
                obj is not None
                and "deletionTimestamp" not in obj["metadata"]
                and uid in ("", obj["metadata"]["uid"])
            ):
                informer.when_changed(written, hold.waiting_for(informer))
        for informer, version in newest.items():
            if informer.version < version:
                informer.when_seen(version, hold.waiting_for(informer))
        return hold.begin()


class _Hold:
    """A key that is kept back until the last of several caches has called."""

    __slots__ = ("controller", "key", "timer", "waits")

    def __init__(self, controller: Controller, key: str) -> None:
        self.controller, self.key = controller, key
        self.waits: dict[Informer, int] = {}
        self.timer: Timer | None = None

    def begin(self) -> bool:
        """Start to wait; return False if there is nothing to wait for."""
        if self.waits:
            self.timer = self.controller.clock.call_later(_DOUBT_SECONDS, self._expired)
        return bool(self.waits)

    def waiting_for(self, informer: Informer) -> Callable[[], None]:
        """Wait for one more write that a cache has to see; return what the cache calls then."""
        self.waits[informer] = self.waits.get(informer, 0) + 1

        def seen() -> None:
            if informer in self.waits:
                self.waits[informer] -= 1
                if not self.waits[informer]:
                    self._settled(informer)

        return seen

    def look_anew(self, informer: Informer) -> None:
        """Wait until a cache has fetched everything again."""
        self.waits.setdefault(informer, 1)
        informer.doubt(lambda: self._settled(informer))

    def _settled(self, informer: Informer) -> None:
        if self.waits.pop(informer, None) is not None and not self.waits:
            if self.timer is not None:
                self.timer.cancel()
            self.controller.queue.done(self.key)

    def _expired(self) -> None:
        """Fetch everything again, because a write has not come back: better than to act on stale objects."""
        kinds = ", ".join(str(informer.ref) for informer in self.waits)
        log.warning(
            "%s: %s: the last write has not come back; fetching %s anew",
            self.controller.name,
            self.key,
            kinds,
        )
        for informer in list(self.waits):
            self.look_anew(informer)
