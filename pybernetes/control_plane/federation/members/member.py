"""One cluster of the federation: a connection, and caches of what the federation has there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.kinds import MANAGED
from pybernetes.control_plane.federation.member_objects import remembered
from pybernetes.control_plane.federation.members.back_off import BackOff
from pybernetes.control_plane.federation.members.member_cache import MemberCache
from pybernetes.lib.clock import Clock
from pybernetes.runtime.budget import MEBIBYTE, Budget, OverBudget
from pybernetes.runtime.informer import Transform
from pybernetes.runtime.informers import Informers
from pybernetes.runtime.wary_informer import WaryInformer

# How many writes go to one member at a time: a slow one holds up nobody but itself.
CALLS_AT_ONCE = 16
# What is remembered of all objects of one member may take so much memory; a thousand Deployments take about 5.
BUDGET_BYTES = 64 * MEBIBYTE
# Told of the member's name and of what is remembered of an object before and after a change.
Handler = Callable[[str, Object | None, Object | None], None]


@dataclass(eq=False)
class Watched:
    """A kind that is followed in every member."""

    ref: Ref
    handler: Handler
    namespace: str = ""
    # Told of the name of a member whose objects cannot be read any more, or can again.
    on_error: Callable[[str], None] | None = None
    labels: str = field(default=f"{MANAGED}=true")


class Member:
    """A cluster that can be asked; one whose description makes no sense has no client."""

    def __init__(
        self, name: str, client: Client | None, clock: Clock, problem: str = "", budget: int = 0
    ) -> None:
        self.name, self.client, self.problem = name, client, problem
        self.ready = False
        self.labels: dict[str, str] = {}
        self.back_off = BackOff(clock)
        self.turns = asyncio.Semaphore(CALLS_AT_ONCE)
        self._clock, self._budget = clock, Budget(budget or BUDGET_BYTES, clock)
        self._caches: dict[Watched, MemberCache] = {}
        self._all_informers: list[Informers] = []
        self._informers = self.informers(remembered) if client is not None else None

    def informers(self, transform: Transform | None = None) -> Informers:
        """Return informers of the member, which share what room there is for it, and have started."""
        assert self.client is not None
        made = Informers(
            self.client,
            clock=self._clock,
            transform=transform,
            informer=partial(WaryInformer, budget=self._budget),
        )
        made.start()
        self._all_informers.append(made)
        return made

    @property
    def overflow(self) -> str:
        """What there is too much of in the member; empty if all of it can be followed."""
        kinds = {
            str(informer.ref)
            for informers in self._all_informers
            for informer in informers
            if isinstance(informer.error, OverBudget)
        }
        return ", ".join(sorted(kinds))

    def watch(self, watched: Watched) -> None:
        """Follow a kind."""
        if self._informers is None:
            return
        informer = self._informers.get(watched.ref, watched.namespace, labels=watched.labels)
        name, handler = self.name, watched.handler
        informer.add_handler(lambda old, new: handler(name, old, new))
        on_error = watched.on_error
        if on_error is not None:
            informer.on_error = lambda: on_error(name)
        self._caches[watched] = MemberCache(informer)

    async def unwatch(self, watched: Watched) -> None:
        """Follow a kind no longer."""
        cache = self._caches.pop(watched, None)
        if cache is not None and self._informers is not None:
            await self._informers.drop(cache.informer)

    def cache(self, watched: Watched) -> MemberCache | None:
        """Return what is remembered of a kind that is followed."""
        return self._caches.get(watched)

    def came_back(self) -> None:
        """Look at once at what has happened while the member was away."""
        self.back_off.succeeded()
        for informers in self._all_informers:
            informers.restart()

    async def close(self) -> None:
        """Let go of the member."""
        for informers in self._all_informers:
            await informers.stop()
        if self.client is not None:
            await self.client.close()
