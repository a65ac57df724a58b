"""Evicts the victims of a preemption while the scheduler goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import Conflict, NotFound, StatusError
from pybernetes.client.refs import PODS
from pybernetes.control_plane.scheduler.reports import Reports
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.runtime.background import BackgroundTasks
from pybernetes.scheduling.pods import Pod

log = logging.getLogger(__name__)


def disruption(pod: Pod, preemptor: Pod, now: str) -> Object:
    """Return the patch that tells why a pod is about to go."""
    condition: Object = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": f"{preemptor.shape.scheduler}: preempting to accommodate a higher priority pod",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }
    if pod.generation:
        condition["observedGeneration"] = pod.generation
    return {"metadata": {"uid": pod.uid}, "status": {"conditions": [condition]}}


class Evictor:
    """Deletes pods. ``done`` is told whether anything went wrong."""

    def __init__(
        self, client: Client, reports: Reports, clock: Clock, done: Callable[[Pod, bool], None]
    ) -> None:
        self._client, self._reports, self._clock, self._done = client, reports, clock, done
        self._tasks = BackgroundTasks("evict")

    def evict(self, victims: tuple[Pod, ...], preemptor: Pod, node: str) -> None:
        """Start to evict pods that are in the way of another."""
        self._tasks.start(self._evict(victims, preemptor, node))

    async def _evict(self, victims: tuple[Pod, ...], preemptor: Pod, node: str) -> None:
        leaving = [victim for victim in victims if not victim.deleting]
        outcomes = await asyncio.gather(
            *(self._one(victim, preemptor, node) for victim in leaving), return_exceptions=True
        )
        failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        for failure in failures:
            log.info("preemption for %s: %s", preemptor.key, failure)
        self._done(preemptor, bool(failures))

    async def _one(self, victim: Pod, preemptor: Pod, node: str) -> None:
        try:
            patch = disruption(victim, preemptor, rfc3339.seconds(self._clock.now()))
            await self._client.patch_status(PODS, victim.name, patch, victim.namespace)
            await self._client.delete(PODS, victim.name, victim.namespace, uid=victim.uid)
        except (NotFound, Conflict):
            return  # it is gone, or another of the same name is there
        except (StatusError, OSError, TimeoutError) as error:
            raise RuntimeError(f"evicting {victim.key}: {error}") from None
        self._reports.preempted(victim, preemptor, node)

    async def close(self, seconds: float = 2.0) -> None:
        """Wait a moment for evictions in flight, then cancel them."""
        await self._tasks.close(seconds)
