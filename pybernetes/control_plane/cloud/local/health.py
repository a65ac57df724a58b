"""Which nodes can take the connections of a load balancer: each is asked over HTTP, as clouds do it.

For ``externalTrafficPolicy: Local`` the service's own port answers, which knows whether the node has an endpoint; otherwise
kube-proxy says whether it works. A node that says no is out at once; one that says nothing, or to ask later, is after two times.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from pybernetes.lib.clock import Clock
from pybernetes.lib.http.client import HttpClient, Peer, RequestFailed

log = logging.getLogger(__name__)
KUBE_PROXY_PORT = 10256
INTERVAL, PATIENCE = 1.0, 0.9  # seconds between two rounds, and for each answer
_SILENCES = 2
_MOST_BYTES = 16384


@dataclass(frozen=True, slots=True)
class Target:
    """Where a node is asked."""

    address: str
    port: int


@dataclass(slots=True)
class Health:
    """What is known of a target: nothing in the beginning."""

    well: bool = False
    refused: bool = False  # it answered that it does not want connections
    silences: int = 0


def judge(health: Health, status: int | None) -> Health:
    """Return what is known after one more answer; None if there was none."""
    if status == 200:
        return Health(well=True)
    if status is not None:
        return Health(refused=True)
    silences = health.silences + 1
    return Health(health.well and silences < _SILENCES, False, silences)


def usable(targets: Iterable[Target], healths: dict[Target, Health]) -> list[Target]:
    """Return the targets to send connections to: those that are well, or else those that did not say no."""
    known = [(target, healths.get(target) or Health()) for target in targets]
    return [target for target, health in known if health.well] or [
        target for target, health in known if not health.refused
    ]


class HealthChecks:
    """Asks all targets once a second while there are any; nothing happens while there are none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._client = HttpClient(most_bytes=_MOST_BYTES)
        self._wanted: dict[str, frozenset[Target]] = {}  # by whoever wants to know
        self.healths: dict[Target, Health] = {}
        self._wake = asyncio.Event()

    def want(self, owner: str, targets: Iterable[Target]) -> None:
        """Ask these targets for an owner from now on, and no others."""
        self._wanted[owner] = frozenset(targets)
        if not self._wanted[owner]:
            del self._wanted[owner]
        asked = self._asked()
        self.healths = {target: health for target, health in self.healths.items() if target in asked}
        if asked:
            self._wake.set()

    def _asked(self) -> frozenset[Target]:
        return frozenset().union(*self._wanted.values())

    async def learn(self, targets: Iterable[Target]) -> None:
        """Ask targets of which nothing is known yet."""
        unknown = [target for target in targets if target not in self.healths]
        answers = await asyncio.gather(*(self._ask(target) for target in unknown))
        for target, status in zip(unknown, answers, strict=True):
            self.healths.setdefault(target, judge(Health(), status))

    async def run(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Ask until cancelled; ``changed`` is called when somebody is well or unwell who was not."""
        try:
            while True:
                await self._wake.wait()
                asked = self._asked()
                if not asked:
                    self._wake.clear()
                    continue
                before = {target: self._state(target) for target in asked}
                answers = await asyncio.gather(*(self._ask(target) for target in asked))
                for target, status in zip(asked, answers, strict=True):
                    self.healths[target] = judge(self.healths.get(target) or Health(), status)
                if any(self._state(target) != state for target, state in before.items()):
                    try:
                        await changed()
                    except OSError as error:
                        log.warning("load balancers could not be told which nodes are well: %s", error)
                await self._clock.sleep(INTERVAL)
        finally:
            self._client.close()

    def _state(self, target: Target) -> tuple[bool, bool]:
        health = self.healths.get(target) or Health()
        return health.well, health.refused

    async def _ask(self, target: Target) -> int | None:
        try:
            peer = Peer(target.address, target.port, None)
            reply = await self._client.send(peer, "GET", "/healthz", b"", {}, PATIENCE)
        except (RequestFailed, OSError):
            return None
        return None if reply.header(b"retry-after") else reply.status
