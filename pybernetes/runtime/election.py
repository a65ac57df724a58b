"""Leader election: of several equal programs, the one that holds a Lease works.

The Lease is written as upstream writes it, so that ours and upstream's programs exclude each other. What a lease
says about the time is compared with nothing but itself: a holder is gone when its record has not changed for as
long as it said it would, by the watcher's own clock.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, Conflict, NotFound, StatusError
from pybernetes.client.refs import LEASES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.runtime.events import Recorder
from pybernetes.runtime.metrics import Metrics

log = logging.getLogger(__name__)
JITTER = 1.2


class LostLease(OSError):
    """The lease could not be renewed in time: another program may have it. To who writes it is as if nobody answered."""


def new_identity() -> str:
    """Return a name for this process that no other has."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


@dataclass(frozen=True)
class Election:
    """Which lease it is about, and the times; upstream's defaults."""

    name: str
    namespace: str = "kube-system"
    identity: str = ""
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0
    coordinated: bool = False  # the API server chooses among candidates, see runtime/candidate.py
    release: bool = True  # give the lease back when told to stop, so that the next need not wait

    def __post_init__(self) -> None:
        if self.lease_seconds <= self.renew_seconds:
            raise ValueError("the lease duration must be greater than the renew deadline")
        if self.renew_seconds <= JITTER * self.retry_seconds:
            raise ValueError(f"the renew deadline must be greater than {JITTER} times the retry period")


class Elector:
    """Takes part in an election."""

    def __init__(
        self,
        client: Client,
        election: Election,
        *,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._client, self.election = client, election
        self.identity = election.identity or new_identity()
        self._clock = clock or Clock()
        self._metrics = metrics
        self._recorder = recorder
        self._lease: Object | None = None
        self._observed_at = 0.0
        self._sure_until = 0.0  # nobody else can have the lease before, whatever became of answers
        self.leader = ""  # whom the last look at the lease showed
        if metrics is not None:
            metrics.leaders[election.name] = False

    @property
    def leading(self) -> bool:
        """Whether the lease was this process's when it was last looked at."""
        return self.leader == self.identity

    def check(self) -> None:
        """Raise LostLease unless this process is sure to hold the lease: the guard of all that only a leader may write.

        What was stopped for a while (a process, a machine, a loop that was held) asks this before it asks anybody else.
        """
        if self._clock.monotonic() >= self._sure_until:
            raise LostLease(
                f"the lease {self.election.namespace}/{self.election.name} is not known to be held"
            )

    # -- the record --------------------------------------------------------------------------------------

    def _spec(self, acquired: str, transitions: int) -> Object:
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self.election.lease_seconds),
            "acquireTime": acquired,
            "renewTime": rfc3339.micro(self._clock.now()),
            "leaseTransitions": transitions,
        }

    def _observe(self, lease: Object) -> None:
        """Record the lease as seen; its time starts again when its record has changed."""
        if self._lease is None or lease.get("spec") != self._lease.get("spec"):
            self._observed_at = self._clock.monotonic()
        self._lease = lease
        holder = lease.get("spec", {}).get("holderIdentity") or ""
        if holder != self.leader:
            self.leader = holder
            log.info("%s: the leader is %s", self.election.name, holder or "nobody")

    def _valid(self) -> bool:
        """Return whether the last seen holder must be assumed to be alive."""
        spec = (self._lease or {}).get("spec", {})
        return self._clock.monotonic() < self._observed_at + (spec.get("leaseDurationSeconds") or 0)

    async def try_once(self) -> bool:
        """Try to get the lease, or to keep it."""
        # Others count from when they see the record, which is no earlier than this.
        began = self._clock.monotonic()
        held = await self._try()
        if held:
            self._sure_until = began + self.election.renew_seconds
        elif not self.leading:
            self._sure_until = 0.0
        return held

    async def _try(self) -> bool:
        try:
            return await (self._keep() if self.election.coordinated else self._get_or_keep())
        except (Conflict, NotFound):
            return False
        except (StatusError, OSError, TimeoutError) as error:
            log.warning("%s: the lease cannot be had: %s", self.election.name, error)
            return False

    async def _look(self) -> Object:
        return await self._client.get(LEASES, self.election.name, self.election.namespace)

    async def _keep(self) -> bool:
        """Keep the lease that the API server gave us; nobody takes one here."""
        lease = await self._look()
        self._observe(lease)
        if not self.leading or not self._valid():
            return False
        preferred = lease.get("spec", {}).get("preferredHolder")
        if preferred:
            log.info("%s: the lease is to go to %s", self.election.name, preferred)
            self.leader = preferred
            return False
        return await self._take(lease)

    async def _get_or_keep(self) -> bool:
        if self.leading and self._lease is not None and self._valid():
            try:
                return await self._take(self._lease)
            except (Conflict, NotFound):
                pass  # it was changed behind our back: look again
        try:
            lease = await self._look()
        except NotFound:
            now = rfc3339.micro(self._clock.now())
            meta = {"name": self.election.name, "namespace": self.election.namespace}
            new = {"metadata": meta, "spec": self._spec(now, 0)}
            try:
                self._observe(await self._client.create(LEASES, new))
                return True
            except AlreadyExists:  # somebody was faster: who leads must learn of it now
                lease = await self._look()
        self._observe(lease)
        if self.leader and self._valid() and not self.leading:
            return False
        return await self._take(lease)

    async def _take(self, lease: Object) -> bool:
        spec = lease.get("spec", {})
        transitions = spec.get("leaseTransitions") or 0
        if spec.get("holderIdentity") == self.identity:
            new = self._spec(spec.get("acquireTime") or rfc3339.micro(self._clock.now()), transitions)
        else:
            new = self._spec(rfc3339.micro(self._clock.now()), transitions + 1)
        stored = await self._client.update(LEASES, {**lease, "spec": {**spec, **new}})
        self._observe(stored)
        return True

    # -- the loop ----------------------------------------------------------------------------------------

    async def acquire(self) -> None:
        """Wait until this process holds the lease."""
        log.info(
            "%s: waiting for the lease %s/%s", self.identity, self.election.namespace, self.election.name
        )
        while not await self.try_once():
            await self._clock.sleep(self.election.retry_seconds * (1 + JITTER * random.random()))
        log.info("%s: got the lease %s/%s", self.identity, self.election.namespace, self.election.name)
        self._tell(True, "became leader")

    async def hold(self) -> None:
        """Renew the lease; raise LostLease when that has failed for too long."""
        while True:
            await self._clock.sleep(self.election.retry_seconds)
            left = self._sure_until - self._clock.monotonic()
            try:
                async with asyncio.timeout(max(left, 0.0)):
                    held = await self.try_once()
            except TimeoutError:
                held = False
            if not held and self._clock.monotonic() >= self._sure_until:
                self._sure_until = 0.0
                self._tell(False, "stopped leading")
                raise LostLease(f"the lease {self.election.namespace}/{self.election.name} was lost")

    async def release(self) -> None:
        """Give the lease back."""
        self._sure_until = 0.0
        self._tell(False, "stopped leading")
        if not self.leading or self._lease is None:
            return
        try:
            for _ in range(3):  # a renewal that was cancelled may still be under way
                lease = await self._client.get(LEASES, self.election.name, self.election.namespace)
                spec = lease.get("spec", {})
                if spec.get("holderIdentity") != self.identity:
                    return
                now = rfc3339.micro(self._clock.now())
                free = {"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now}
                try:
                    self._observe(await self._client.update(LEASES, {**lease, "spec": {**spec, **free}}))
                    return
                except Conflict:
                    continue
        except (StatusError, OSError, TimeoutError) as error:
            log.warning("%s: the lease was not given back: %s", self.election.name, error)

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Wait for the lease and run ``lead`` while holding it; raise LostLease if it is lost."""
        await self.acquire()
        leading = asyncio.ensure_future(lead())
        holding = asyncio.ensure_future(self.hold())
        try:
            await asyncio.wait([leading, holding], return_when=asyncio.FIRST_COMPLETED)
            # Nothing may be left at work by the time that somebody else can have the lease.
        finally:
            for task in (leading, holding):
                task.cancel()
            await asyncio.gather(leading, holding, return_exceptions=True)
            lost = holding.done() and not holding.cancelled() and holding.exception() is not None
            if self.election.release and not lost:
                await self.release()
        for task in (holding, leading):
            if not task.cancelled() and task.exception() is not None:
                raise task.exception()  # type: ignore[misc]

    def _tell(self, leading: bool, what: str) -> None:
        if self._metrics is not None:
            self._metrics.leaders[self.election.name] = leading
        if self._recorder is not None and self._lease is not None:
            self._recorder.normal(self._lease, "LeaderElection", f"{self.identity} {what}")
