"""The loop: follows the cluster, and runs a pass now and then, or once."""

from __future__ import annotations

import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from pybernetes.api.resource import Object
from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.control_plane.descheduler.cluster import Cluster
from pybernetes.control_plane.descheduler.descheduling import Eviction, descheduling
from pybernetes.control_plane.descheduler.eviction_requests import EXPIRY_SECONDS, EvictionRequests
from pybernetes.control_plane.descheduler.evictor import PodEvictor
from pybernetes.control_plane.descheduler.metrics import DeschedulerMetrics
from pybernetes.control_plane.descheduler.node_usage import Usage
from pybernetes.control_plane.descheduler.plugin import Outcome
from pybernetes.control_plane.descheduler.pod_records import SYSTEM_CRITICAL, PodRecord
from pybernetes.control_plane.descheduler.policy import EVICTOR, Policy, PolicyError
from pybernetes.control_plane.descheduler.profile import Profile
from pybernetes.control_plane.descheduler.usage_sources import COLLECT_SECONDS, FAILURES, UsageSources
from pybernetes.lib.clock import Clock
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.events import Sender, SeriesRecorder
from pybernetes.runtime.following import following, late
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.transforms import kept, read_as
from pybernetes.scheduling.disruption_budgets import EvictionBudgets

log = logging.getLogger(__name__)
CONTROLLER = "sigs.k8s.io.descheduler"
_LOOKED_UP = (
    (refs.NAMESPACES, kept()),
    (refs.PERSISTENT_VOLUME_CLAIMS, kept("spec.storageClassName")),
    (refs.POD_DISRUPTION_BUDGETS, kept("spec", "status")),
)


class Descheduler:
    """Evicts pods; in a dry run it only says which."""

    def __init__(
        self,
        client: Client,
        policy: Policy,
        *,
        interval: float = 0.0,
        dry_run: bool = False,
        in_background: bool = False,
        version: str = "v0.0",
        clock: Clock | None = None,
    ) -> None:
        self.client, self.policy, self.interval, self.dry_run = client, policy, interval, dry_run
        self.clock = clock or Clock()
        self.metrics = DeschedulerMetrics(version)
        wants_conditions = any(
            (profile.arguments.get("PodLifeTime") or {}).get("conditions") for profile in policy.profiles
        )
        self.cluster = Cluster(wants_conditions)
        self.requests = EvictionRequests(self.metrics) if in_background else None
        # Made now as well, so that a policy that cannot be is refused at once.
        self.profiles: Sequence[Profile] = [Profile(profile) for profile in policy.profiles]
        self._sender = Sender(client, self.clock)
        self._recorder = SeriesRecorder(client, CONTROLLER, clock=self.clock, sender=self._sender)
        self._usage = UsageSources(client, policy)
        self.informers = self._informers()

    def _informers(self) -> list[Informer]:
        cluster = self.cluster
        nodes = Informer(
            self.client, refs.NODES, transform=read_as("node", cluster.read_node), clock=self.clock
        )
        nodes.add_handler(
            _handler(lambda key, obj: cluster.set_node(key, None if obj is None else obj["node"]))
        )
        pods = Informer(
            self.client, refs.PODS, transform=read_as("record", cluster.read_pod), clock=self.clock
        )
        pods.add_handler(_handler(lambda key, obj: cluster.set_pod(key, _record(obj))))
        requests = self.requests
        if requests is not None:
            pods.add_handler(lambda old, new: requests.follow(_record(old), _record(new)))
        result = [nodes]
        for ref, transform in _LOOKED_UP:
            informer = Informer(self.client, ref, transform=transform, clock=self.clock)

            def store(key: str, obj: Object | None, kind: str = ref.plural) -> None:
                cluster.set_object(kind, key, obj)

            informer.add_handler(_handler(store))
            result.append(informer)
        return [*result, pods]

    @property
    def synced(self) -> bool:
        """Whether everything is known."""
        return all(informer.synced for informer in self.informers)

    def check(self) -> str | None:
        """Return what is not known yet, for the readiness page."""
        return late(self.informers)

    async def run(self) -> None:
        """Run passes at the interval, or a single one without an interval; ends only then, or when cancelled."""
        async with self.following():
            while True:
                started = self.clock.monotonic()
                await self.run_once()
                if not self.interval:
                    return
                await self.clock.sleep(max(0.0, started + self.interval - self.clock.monotonic()))

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the cluster; everything is known when it begins."""
        await resolve_priorities(self.policy, self.client)
        self.profiles = [Profile(profile) for profile in self.policy.profiles]
        others: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        if self._usage.collects and self.interval:
            others.append(("metrics", self._collect))
        if self.requests is not None:
            others.append(("requests", functools.partial(self._expire, self.requests)))
        try:
            async with following(self.informers, *others):
                yield
        finally:
            await self._sender.close()
            self._usage.close()

    async def _collect(self) -> None:
        while True:
            try:
                await self._usage.collect()
            except FAILURES as error:
                log.warning("fetching node metrics: %s", error)
            await self.clock.sleep(COLLECT_SECONDS)

    async def _expire(self, requests: EvictionRequests) -> None:
        while True:
            await self.clock.sleep(EXPIRY_SECONDS)
            requests.expire(self.clock.monotonic())

    async def run_once(self) -> list[Eviction]:
        """Run one pass; return what was evicted, or would be."""
        started = self.clock.monotonic()
        usages: dict[object, Usage | str] = {}
        for source in {source for profile in self.profiles for source in profile.sources()}:
            usages[source] = await self._usage.ask(source)
        with self.cluster.still():
            budgets = self.cluster.objects.get("poddisruptionbudgets", {}).values()
            evictor = PodEvictor(
                self.client,
                self.policy,
                self.metrics,
                self._recorder,
                EvictionBudgets(budgets) if self.dry_run else None,
                self.requests,
                self.clock,
            )
            evicted = await self._pass(evictor, usages)
        self.metrics.loops.observe(self.clock.monotonic() - started)
        log.info("%d pods %s", len(evicted), "would be evicted" if self.dry_run else "evicted")
        return evicted

    async def _pass(self, evictor: PodEvictor, usages: dict[object, Usage | str]) -> list[Eviction]:
        evictions = descheduling(
            self.cluster, self.profiles, self.clock.now(), self.policy.node_selector, usages, self._timer
        )
        evicted: list[Eviction] = []
        outcome: Outcome | None = None
        try:
            while True:
                try:
                    eviction = evictions.send(outcome)
                except StopIteration:
                    return evicted
                outcome = await evictor.evict(eviction)
                if outcome is Outcome.EVICTED:
                    evicted.append(eviction)
        finally:
            evictions.close()

    def _timer(self, profile: str, strategy: str) -> Callable[[], None]:
        started = self.clock.monotonic()
        return lambda: self.metrics.strategy(strategy, profile, self.clock.monotonic() - started)


async def resolve_priorities(policy: Policy, client: Client) -> None:
    """Replace priority classes that thresholds name by their values."""
    for profile in policy.profiles:
        arguments = profile.arguments[EVICTOR]
        threshold = arguments.get("priorityThreshold") or {}
        value = threshold.get("value")
        if value is None and threshold.get("name"):
            try:
                value = (await client.get(refs.PRIORITY_CLASSES, threshold["name"])).get("value", 0)
            except StatusError as error:
                text = f"unable to get priority value from the priority class: {error}"
                raise PolicyError(text) from None
        if value is not None and value > SYSTEM_CRITICAL:
            raise PolicyError(f"priority threshold can't be greater than {SYSTEM_CRITICAL}")
        profile.arguments[EVICTOR] = {**arguments, "priorityThreshold": {"value": value}}


def _record(obj: Object | None) -> PodRecord | None:
    return None if obj is None else obj["record"]


def _handler(store: Callable[[str, Object | None], None]) -> Callable[[Object | None, Object | None], None]:
    def handle(old: Object | None, new: Object | None) -> None:
        current = new if new is not None else old
        assert current is not None
        store(key_of(current), new)

    return handle
