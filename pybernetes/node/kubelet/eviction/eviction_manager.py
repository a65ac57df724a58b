"""Observes the node from time to time; frees what can be freed, and evicts a pod if that is not enough."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.eviction import disk_limits, ranking, thresholds
from pybernetes.node.kubelet.eviction.thresholds import Observation, PressureWatch, Threshold
from pybernetes.node.kubelet.stats.summary_provider import SummaryProvider

log = logging.getLogger(__name__)
_CLEAN_SECONDS, _CLEAN_CHECK_SECONDS = 30.0, 0.2
_PATIENCE = 5.0  # seconds for measuring folders before the node is looked at again
_GRACE = 1.0  # seconds that a pod gets when there is no time


class Victim(Protocol):
    """A pod that can be evicted."""

    pod: Object

    def fail(self, reason: str, message: str, grace: float | None = None, disruption: str = "") -> None: ...

    @property
    def cleaned(self) -> bool: ...


class EvictionManager:
    """Node-pressure eviction. ``free`` removes dead containers and unused images, ``changed`` reports the node."""

    def __init__(
        self,
        settings: Object,
        context: Context,
        provider: SummaryProvider,
        *,
        active: Callable[[], Iterable[Victim]],
        free: Callable[[], Awaitable[None]],
        changed: Callable[[], None],
        seconds: float,
    ) -> None:
        transition = float(duration(settings.get("evictionPressureTransitionPeriod") or "5m0s"))
        self.watch = PressureWatch(thresholds.parse(settings), transition)
        self._longest_grace = float(settings.get("evictionMaxPodGracePeriod") or 0)
        self._isolation = bool(settings.get("localStorageCapacityIsolation", True))
        self._context, self._clock, self._stats = context, context.clock, provider
        self._active, self._free, self._changed, self._seconds = active, free, changed, seconds
        self.conditions: frozenset[str] = frozenset()
        self._measuring: asyncio.Task[list[Victim]] | None = None

    async def run(self) -> None:
        """Check the node until cancelled."""
        try:
            while True:
                try:
                    ended = await self.check()
                except OSError as error:
                    log.warning("the node cannot be observed: %s", error)
                    ended = []
                if ended:
                    await self._wait_until_clean(ended)
                else:
                    await self._clock.sleep(self._seconds)
        finally:
            if self._measuring is not None:
                self._measuring.cancel()

    def refusal(self, pod: Object) -> tuple[str, str] | None:
        """Return why a new pod may not start now."""
        refusal = ranking.refusal(pod, self.conditions)
        return (refusal[0], f"Pod was rejected: {refusal[1]}") if refusal is not None else None

    async def _wait_until_clean(self, ended: list[Victim]) -> None:
        """Wait until nothing is left of the evicted pods: only then is what they used free again."""
        until = self._clock.monotonic() + _CLEAN_SECONDS
        while not all(victim.cleaned for victim in ended) and self._clock.monotonic() < until:
            await self._clock.sleep(_CLEAN_CHECK_SECONDS)

    async def check(self) -> list[Victim]:
        """Check the node once; return the pods that were evicted."""
        seen = thresholds.observe(await self._stats.node())
        conditions, due = self.watch.step(seen, self._clock.now())
        if conditions != self.conditions:
            self.conditions = conditions
            self._changed()
        over = await self._limits_checked() if self._isolation else []
        if over or not due:
            return over
        return await self._relieve(due[0], due, seen)

    async def _images_apart(self) -> bool:
        node, (images, _) = self._stats.disks.node_filesystem(), await self._stats.disks.image_filesystem()
        return node is not None and images is not None and node.device != images.device

    async def _limits_checked(self) -> list[Victim]:
        """Return the pods that were evicted for their disk limits.

        A pod can fill its folders so that measuring them takes very long: the node is looked after meanwhile.
        """
        if self._measuring is None:
            self._measuring = asyncio.create_task(self._over_limits())
        done, _ = await asyncio.wait({self._measuring}, timeout=_PATIENCE)
        if not done:
            return []
        measured, self._measuring = self._measuring, None
        return measured.result()

    async def _over_limits(self) -> list[Victim]:
        candidates = [victim for victim in self._active() if disk_limits.has_disk_limits(victim.pod)]
        if not candidates:
            return []
        pod_stats = await self._stats.of({victim.pod["metadata"]["uid"] for victim in candidates})
        apart = await self._images_apart()
        ended = []
        for victim in candidates:
            stats = pod_stats.get(victim.pod["metadata"]["uid"])
            over = (
                disk_limits.exceeded_limit(victim.pod, stats, image_disk=apart) if stats is not None else None
            )
            if over is not None and self._evict(victim, over[0], over[1], _GRACE):
                ended.append(victim)
        return ended

    async def _relieve(
        self, threshold: Threshold, due: list[Threshold], seen: dict[str, Observation]
    ) -> list[Victim]:
        resource = thresholds.SIGNALS[threshold.signal][1]
        log.warning("attempting to reclaim %s", resource)
        self._context.node_event("EvictionThresholdMet", f"Attempting to reclaim {resource}")
        apart = await self._images_apart()
        node_disk = threshold.signal in (thresholds.NODE_DISK, thresholds.NODE_INODES)
        if resource in ("ephemeral-storage", "inodes") and not (apart and node_disk):
            await self._free()
            after = thresholds.observe(await self._stats.node())
            if not thresholds.met(self.watch.thresholds, after, reclaim=True):
                return []
        victims = {victim.pod["metadata"]["uid"]: victim for victim in self._active()}
        disks = resource in ("ephemeral-storage", "inodes")
        pod_stats = await self._stats.of(set(victims), disks=disks)
        pods = [victim.pod for victim in victims.values()]
        for pod in ranking.rank(pods, pod_stats, threshold.signal, image_disk=apart):
            uid = pod["metadata"]["uid"]
            text, annotations = ranking.message(pod, pod_stats.get(uid), due, seen, resource)
            grace = _GRACE if threshold.hard else self._soft_grace(pod)
            if self._evict(victims[uid], threshold.signal, text, grace, annotations, disruption=text):
                return [victims[uid]]
        log.warning("no pod can be ended to reclaim %s", resource)
        return []

    def _soft_grace(self, pod: Object) -> float:
        return min(self._longest_grace, float(pod["spec"].get("terminationGracePeriodSeconds") or 0))

    def _evict(
        self, victim: Victim, signal: str, text: str, grace: float, annotations: dict[str, str] | None = None,
        disruption: str = "",
    ) -> bool:  # fmt: skip
        if ranking.is_critical(victim.pod):
            return False
        self._context.event(victim.pod, "Warning", "Evicted", text, annotations=annotations)
        self._context.metrics.add("kubelet_evictions", ("eviction_signal", signal))
        victim.fail("Evicted", text, grace, disruption)
        return True
