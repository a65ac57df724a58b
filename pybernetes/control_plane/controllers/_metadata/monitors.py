"""The metadata of every object of every kind, for the controllers that work on whatever there is.

The kinds come and go with CustomResourceDefinitions and APIServices. Where another controller watches whole objects of a
kind, those are used.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import cast
from weakref import WeakKeyDictionary

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import API_SERVICES, CUSTOM_RESOURCE_DEFINITIONS, Ref
from pybernetes.control_plane.controllers._metadata.discovery import Discovered, Served, discover
from pybernetes.lib.clock import Timer
from pybernetes.runtime.cache import Union, by_owner
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.informers import Informers
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
# Told of every change of any object: its kind, and the object before and after.
Listener = Callable[[Ref, "Object | None", "Object | None"], None]
# Nobody owns an event, and there are many.
_IGNORED = {("", "events"), ("events.k8s.io", "events")}
# A server may take a moment to have a new kind in its documents.
_LOOK_AGAIN = (0.2, 2.0, 10.0)
_FAILED_SECONDS = 30.0
_shared: WeakKeyDictionary[Informers, Monitors] = WeakKeyDictionary()


class Monitors:
    """One for all controllers of a process: ``Monitors.of(runtime)``, kept going by ``running``."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._client, self._clock = runtime.informers.client, runtime.clock
        self.discovered = Discovered()
        self._informers: dict[Ref, Informer] = {}
        self._owned = Union(by_owner)
        self._listeners: list[Listener] = []
        self._kinds_listeners: list[Callable[[], None]] = []
        self._users = 0
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._timers: list[Timer] = []
        self._known = asyncio.Event()

    @classmethod
    def of(cls, runtime: Runtime) -> Monitors:
        """Return the monitors that everybody with the same informers shares."""
        monitors = _shared.get(runtime.informers)
        if monitors is None:
            monitors = _shared[runtime.informers] = cls(runtime)
        return monitors

    # -- reading -----------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[tuple[Ref, Informer]]:
        return iter(list(self._informers.items()))

    def get(self, ref: Ref) -> Informer | None:
        """Return the cache of a kind, or None if it is not monitored."""
        return self._informers.get(ref)

    def dependents(self, uid: str) -> list[tuple[Ref, Object]]:
        """Return the objects of any kind that name an owner."""
        return [(cast(Informer, informer).ref, obj) for informer, obj in self._owned.find(uid)]

    @property
    def synced(self) -> bool:
        """Whether every kind has been seen."""
        return self._known.is_set() and all(informer.synced for informer in self._informers.values())

    async def known(self) -> None:
        """Wait until the kinds are known."""
        await self._known.wait()

    async def wait_synced(self) -> None:
        """Wait until the kinds are known and the objects of each have been seen."""
        await self.known()
        for informer in list(self._informers.values()):
            await informer.wait_synced()

    # -- listening ---------------------------------------------------------------------------------------

    def listen(self, listener: Listener) -> None:
        """Call a function for every change of any object, and now for every object that is there."""
        self._listeners.append(listener)
        for ref, informer in self._informers.items():
            informer.add_handler(_handler(listener, ref))

    def listen_to_kinds(self, listener: Callable[[], None]) -> None:
        """Call a function when kinds come or go."""
        self._kinds_listeners.append(listener)

    # -- running -----------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Monitor the kinds of the server for as long as somebody needs it."""
        self._users += 1
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="monitors")
        try:
            yield
        finally:
            self._users -= 1
            if not self._users and self._task is not None:
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)
                self._task = None

    async def _run(self) -> None:
        informers = self._runtime.informers
        for kind in (CUSTOM_RESOURCE_DEFINITIONS, API_SERVICES):
            informers.get(kind, metadata_only=True).add_handler(lambda old, new: self._look_soon())
        failures = 0
        while True:
            self._wake.clear()
            try:
                await self.refresh()
                failures = 0
                if self.discovered.failures:
                    self._later(_FAILED_SECONDS)
            except (StatusError, OSError) as error:
                failures += 1
                log.warning("the kinds of the server cannot be found out: %s; trying again", error)
                self._later(min(_FAILED_SECONDS, 0.1 * 2**failures))
            await self._wake.wait()

    def _look_soon(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for seconds in _LOOK_AGAIN:
            self._later(seconds)

    def _later(self, seconds: float) -> None:
        self._timers.append(self._clock.call_later(seconds, self._wake.set))

    async def refresh(self) -> Discovered:
        """Ask the server for its kinds and monitor those that are new; return all of them."""
        discovered = await discover(self._client)
        # What a group had before stays while the group cannot be asked.
        for served in self.discovered.versions.values():
            if served.ref.api_version in discovered.failures:
                discovered.add(served)
        self.discovered = discovered
        wanted = {served.ref for served in discovered.preferred.values() if is_followed(served)}
        added = wanted - self._informers.keys()
        removed = self._informers.keys() - wanted
        for ref in added:
            informer = self._informers[ref] = self._runtime.informers.get(ref, metadata_only=True)
            informer.join(self._owned)
            for listener in self._listeners:
                informer.add_handler(_handler(listener, ref))
        for ref in removed:
            informer = self._informers.pop(ref)
            informer.leave(self._owned)
            await self._runtime.informers.drop(informer)
        self._known.set()
        if added or removed:
            for changed in self._kinds_listeners:
                changed()
        return discovered


def is_followed(served: Served) -> bool:
    """Return whether objects of a kind can be owned and deleted."""
    ref = served.ref
    return served.can("delete", "list", "watch") and (ref.group, ref.plural) not in _IGNORED


def _handler(listener: Listener, ref: Ref) -> Callable[[Object | None, Object | None], None]:
    return lambda old, new: listener(ref, old, new)
