"""Puts the upkeep of a node together: logs, images, dead containers, pressure."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from pybernetes.api import quantity
from pybernetes.lib import gc_tuning
from pybernetes.lib.flags import duration
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
Fields = dict[str, Any]
_AGAIN_SECONDS = 10.0
_GIVE_BACK_SECONDS = 20.0


class Housekeeping:
    """What runs beside the pods. ``changed`` is called when the node comes under pressure or out of it."""

    def __init__(
        self,
        settings: Fields,
        context: Context,
        figures: SummaryProvider,
        workers: Callable[[], Iterable[PodWorker]],
        changed: Callable[[], None],
        seconds: float,
    ) -> None:
        self._context, self._workers = context, workers
        self.rotation = LogRotation(
            context.cri, context.clock, self._running,
            size=quantity.integer(settings["containerLogMaxSize"]), files=int(settings["containerLogMaxFiles"]),
            seconds=float(duration(settings["containerLogMonitorInterval"])), links=context.settings.log_links,
        )  # fmt: skip
        self.images = ImageGarbageCollector(
            context.cri, context.clock, context.counts, figures.image_filesystem, self._node_event,
            high=int(settings["imageGCHighThresholdPercent"]), low=int(settings["imageGCLowThresholdPercent"]),
            least_age=float(duration(settings["imageMinimumGCAge"])),
            longest=float(duration(settings["imageMaximumGCAge"])),
        )  # fmt: skip
        self.evictions = EvictionManager(
            settings, context.clock, figures, context.counts, active=self._active, free=self._free,
            changed=changed, pod_event=self._pod_event, node_event=self._node_event,
            seconds=seconds,
        )  # fmt: skip

    def work(self) -> list[tuple[Coroutine[Any, Any, None], str]]:
        """What runs as long as the kubelet does."""
        parts = (
            (self.rotation.run, "log rotation"),
            (self.images.run, "image garbage collection"),
            (self.evictions.run, "eviction"),
            (self._give_back, "memory"),
        )
        return [(self._keep(run, name), name) for run, name in parts]

    async def _keep(self, run: Callable[[], Awaitable[None]], name: str) -> None:
        """A part that fails in a way that nobody thought of goes on a little later: the node depends on it."""
        while True:
            try:
                await run()
            except Exception:
                log.exception("%s failed", name)
            await self._context.clock.sleep(_AGAIN_SECONDS)

    async def _give_back(self) -> None:
        await self._context.clock.sleep(_GIVE_BACK_SECONDS)
        gc_tuning.return_memory()

    def _running(self) -> list[ContainerRun]:
        return [run for worker in self._workers() for run in worker.runtime.running]

    def _active(self) -> list[PodWorker]:
        return [
            worker
            for worker in self._workers()
            if worker.phase is WorkerPhase.SYNCING and worker.runtime.sandboxes
        ]

    def _pod_event(
        self, pod: Fields, type_: str, reason: str, message: str, annotations: dict[str, str] | None = None
    ) -> None:
        if self._context.recorder is not None:
            about = {"kind": "Pod", "apiVersion": "v1", **pod}
            self._context.recorder.event(about, type_, reason, message[:1024], annotations=annotations)

    def _node_event(self, reason: str, message: str) -> None:
        if self._context.recorder is not None:
            name = self._context.node()["metadata"]["name"]
            # Events about nodes have always had the name in place of the uid.
            about = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": name}}
            self._context.recorder.warning(about, reason, message[:1024])

    async def _free(self) -> None:
        await self.free_dead()
        try:
            await self.images.free_all()
        except CriError:
            pass

    async def free_dead(self) -> None:
        """Removes the containers and logs of pods that have ended, although the pods are still there."""
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
            worker.poke()
