"""Puts the housekeeping of a node together: logs, images, dead containers, eviction."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.lib.memory import forgetting
from pybernetes.node.kubelet.containers import logs
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun
from pybernetes.node.kubelet.eviction.eviction_manager import EvictionManager
from pybernetes.node.kubelet.housekeeping.image_gc import ImageGarbageCollector
from pybernetes.node.kubelet.housekeeping.log_rotation import LogRotation
from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase
from pybernetes.node.kubelet.stats.summary_provider import SummaryProvider

log = logging.getLogger(__name__)
_AGAIN_SECONDS = 10.0
_GIVE_BACK_SECONDS = 20.0


class Housekeeping:
    """The loops that run beside the pods. ``changed`` is called when the node comes under pressure or out of it."""

    def __init__(
        self,
        settings: Object,
        context: Context,
        provider: SummaryProvider,
        workers: Callable[[], Iterable[PodWorker]],
        changed: Callable[[], None],
        seconds: float,
    ) -> None:
        self._context, self._workers = context, workers
        self.rotation = LogRotation(
            context.cri, context.clock, self._running,
            size=quantity.integer(settings["containerLogMaxSize"]), files=int(settings["containerLogMaxFiles"]),
            seconds=float(duration(settings["containerLogMonitorInterval"])), workers=int(settings["containerLogMaxWorkers"]), links=context.settings.log_links,
        )  # fmt: skip
        self.images = ImageGarbageCollector(
            context.cri, context.clock, context.metrics, provider.disks.image_filesystem, context.node_event,
            high=int(settings["imageGCHighThresholdPercent"]), low=int(settings["imageGCLowThresholdPercent"]),
            least_age=float(duration(settings["imageMinimumGCAge"])),
            longest=float(duration(settings["imageMaximumGCAge"])), pulls=context.images.records, spans=context.spans,
        )  # fmt: skip
        self.evictions = EvictionManager(
            settings, context, provider, active=self._active, free=self._free, changed=changed, seconds=seconds
        )  # fmt: skip

    def work(self) -> list[tuple[Coroutine[Any, Any, None], str]]:
        """Return the loops that run as long as the kubelet does, with their names."""
        parts = (
            (self.rotation.run, "log rotation"),
            (self.images.run, "image garbage collection"),
            (self.evictions.run, "eviction"),
            (self._give_back, "memory"),
        )
        return [(self._keep(run, name), name) for run, name in parts]

    async def _keep(self, run: Callable[[], Awaitable[None]], name: str) -> None:
        """Run a loop again a little later when it fails unexpectedly: the node depends on it."""
        while True:
            try:
                await run()
            except Exception:
                log.exception("%s failed", name)
            await self._context.clock.sleep(_AGAIN_SECONDS)

    async def _give_back(self) -> None:
        await self._context.clock.sleep(_GIVE_BACK_SECONDS)
        await forgetting.forget()

    def _running(self) -> list[ContainerRun]:
        return [run for worker in self._workers() for run in worker.runtime.running]

    def _active(self) -> list[PodWorker]:
        return [
            worker
            for worker in self._workers()
            if worker.phase is WorkerPhase.SYNCING and worker.runtime.sandboxes
        ]

    async def _free(self) -> None:
        await self.free_dead()
        try:
            await self.images.free_all()
        except CriError:
            pass

    async def free_dead(self) -> None:
        """Remove the containers and logs of pods that have ended, although the pods are still there."""
        with self._context.spans.part("Containers/GarbageCollect", {}):
            await self._free_dead()

    async def _free_dead(self) -> None:
        for worker in list(self._workers()):
            if worker.phase is not WorkerPhase.TERMINATED:
                continue
            for run in worker.runtime.runs:
                try:
                    await self._context.cri.remove_container(run.id)
                except CriError as error:
                    if error.code != "NOT_FOUND":
                        continue
                logs.remove(run.log_path)
            worker.wake()
