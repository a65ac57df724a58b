"""Holds elections: looks at candidates when they change, and at their leases every few seconds while there are any."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
import uuid
from collections.abc import Iterable

from pybernetes.api.coordination import lease_candidate
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.leader_election import election
from pybernetes.control_plane.apiserver.leader_election.election import Step
from pybernetes.control_plane.apiserver.storage.damage import left_alone
from pybernetes.control_plane.apiserver.storage.ensure import ensure
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import DELETE, KEEP, Outcome, modify
from pybernetes.control_plane.store.protocol import Event, StoreError, Watch
from pybernetes.lib import rfc3339

log = logging.getLogger(__name__)
NAME = "leader-election-controller"
_NAMESPACE = "kube-system"
_LOOK_SECONDS = 5.0
# How long others wait for the server that holds the elections, when it is silent.
_TURN_SECONDS = 15


class LeaderElectionController:
    """Elections of all leases that have candidates."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        self._candidates = context.kinds.find(lease_candidate.GROUP, lease_candidate.RESOURCE.plural)
        self._leases = context.kinds.find(lease_candidate.GROUP, "leases")
        self._changed = asyncio.Event()
        self._watches: dict[str, Watch] = {}
        self._task: asyncio.Task[None] | None = None
        self._seen: Object = {}  # the lease of who holds the elections
        self._seen_at = 0.0

    def start(self) -> None:
        """Begin."""
        self._watch(self._candidates.prefix)
        self._changed.set()
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop."""
        for watch in self._watches.values():
            watch.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _watch(self, prefix: str) -> None:
        """Wake up when something below a prefix, or at one key, changes."""

        def seen(events: Iterable[Event]) -> None:
            self._changed.set()

        def closed(error: StoreError | None) -> None:
            self._watches.pop(prefix, None)
            if error is not None:
                self._watch(prefix)
                self._changed.set()

        if prefix not in self._watches:
            self._watches[prefix] = self._context.store.watch(prefix, 0, seen, closed=closed)

    async def _run(self) -> None:
        while True:
            try:
                # Without candidates nothing is looked at until there is one.
                async with asyncio.timeout(_LOOK_SECONDS if self._listed() else None):
                    await self._changed.wait()
            except TimeoutError:
                pass
            self._changed.clear()
            try:
                await self.round()
            except (StoreError, StatusError) as error:
                log.warning("leader election: %s", error)

    def _listed(self) -> list[Object]:
        listed = []
        for record in self._context.store.list(self._candidates.prefix).records:
            with left_alone():
                listed.append(self._candidates.shared(record))
        return listed

    async def round(self) -> None:
        """Do one step for every lease that has candidates, if it is this server's turn."""
        candidates, now = self._listed(), self._context.clock()
        if not candidates or not await self._our_turn():
            return
        by_lease: dict[tuple[str, str], list[Object]] = {}
        for candidate in candidates:
            namespace = candidate["metadata"].get("namespace", "")
            if election.gone(candidate, now):
                await self._collect(namespace, candidate["metadata"]["name"])
                continue
            lease_name = (candidate.get("spec") or {}).get("leaseName") or ""
            by_lease.setdefault((namespace, lease_name), []).append(candidate)
        for (namespace, name), listed in by_lease.items():
            key = self._leases.key(namespace, name)
            self._watch(key)
            record = self._context.store.get(key)
            lease = self._leases.shared(record) if record is not None else None
            await self._do(namespace, name, election.step(lease, listed, now))

    async def _do(self, namespace: str, name: str, step: Step) -> None:
        now = self._context.clock()
        for candidate in step.ask:
            await self._ask(namespace, candidate, rfc3339.micro(now))
        if not step.strategy:
            return
        metadata = {"name": name, "namespace": namespace}
        await ensure(
            self._context,
            lease_candidate.GROUP,
            "leases",
            namespace,
            {"metadata": metadata, "spec": {"strategy": step.strategy}},
        )

        def change(lease: Object | None) -> Object | Outcome:
            spec = election.elected(lease, step, now) if lease is not None else None
            return {**lease, "spec": spec} if lease is not None and spec is not None else KEEP

        await self._modify(self._leases, namespace, name, change)

    async def _ask(self, namespace: str, name: str, now: str) -> None:
        def change(candidate: Object | None) -> Object | Outcome:
            return (
                {**candidate, "spec": {**candidate.get("spec", {}), "pingTime": now}} if candidate else KEEP
            )

        await self._modify(self._candidates, namespace, name, change)

    async def _collect(self, namespace: str, name: str) -> None:
        def change(candidate: Object | None) -> Outcome:
            return DELETE if candidate and election.gone(candidate, self._context.clock()) else KEEP

        await self._modify(self._candidates, namespace, name, change)

    async def _modify(self, kind: Kind, namespace: str, name: str, change: object) -> None:
        with left_alone():
            await modify(self._context.store, kind, kind.key(namespace, name), change)  # type: ignore[arg-type]

    async def _our_turn(self) -> bool:
        """Hold the lease by which one of several servers holds the elections; a server that is alone always does."""
        if self._context.store.local:
            return True
        metadata = {"name": NAME, "namespace": _NAMESPACE}
        await ensure(
            self._context, lease_candidate.GROUP, "leases", _NAMESPACE, {"metadata": metadata, "spec": {}}
        )
        ours = False

        def change(lease: Object | None) -> Object | Outcome:
            nonlocal ours
            spec, moment = dict((lease or {}).get("spec") or {}), time.monotonic()
            if spec != self._seen:
                self._seen, self._seen_at = spec, moment
            holder = spec.get("holderIdentity")
            ours = lease is not None and (
                not holder or holder == self._identity or moment > self._seen_at + _TURN_SECONDS
            )
            if not ours or lease is None:
                return KEEP
            renewed = rfc3339.micro(self._context.clock())
            new = {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": _TURN_SECONDS,
                "renewTime": renewed,
            }
            return {**lease, "spec": {**spec, **new}}

        await self._modify(self._leases, _NAMESPACE, NAME, change)
        return ours
