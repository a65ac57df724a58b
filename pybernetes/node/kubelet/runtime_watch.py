"""Watches the container runtime: whether it is ready, and which pods something happened to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.cri import container_events, label_keys
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState
from pybernetes.node.kubelet.cri.runtime_features import RuntimeFeatures, runtime_features
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.node_status.node_status import image_list
from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase

log = logging.getLogger(__name__)
_RELIST_BLIND_SECONDS = 1.0  # between two looks at everything where the runtime reports no events
# How often a runtime that is not ready is checked: one that starts answers before it can be used.
_MEND_FIRST, _MEND_LONGEST = 0.05, 1.0
# The runtime announces an end before its own records have it, on a busy machine long before.
_SETTLE_SECONDS = (0.0, 0.02, 0.1, 0.4, 1.5, 3.0, 6.0, 12.0, 24.0)


class RuntimeWatch:
    """What is known about the runtime. ``soon`` starts a task, ``changed`` is called when its problems change."""

    def __init__(
        self,
        cri: CriClient,
        clock: Clock,
        workers: Mapping[str, PodWorker],
        soon: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
        changed: Callable[[], None],
        metrics: KubeletMetrics,
    ) -> None:
        self._metrics = metrics
        self.relisted_at = 0.0  # when everything was last looked at, in seconds of the epoch
        self._relist_begun: float | None = None
        self._cri, self._clock, self._workers, self._soon, self._changed = cri, clock, workers, soon, changed
        self.runtime_problem = "container runtime is not ready"
        self.network_problem = "container runtime network not ready: the runtime has not been asked yet"
        self.features = RuntimeFeatures()
        self.images: list[Object] = []
        self.events_seen = 0
        self._checking: asyncio.Task[Any] | None = None
        self._seen: dict[str, set[tuple[str, int]]] = {}

    async def wait(self) -> Message:
        """Wait until the runtime answers; return its version."""
        delay = 0.1
        while True:
            try:
                return await self._cri.version()
            except CriError as error:
                log.warning("the container runtime at %s is not there: %s", self._cri.endpoint, error.message)
            await self._clock.sleep(delay)
            delay = min(5.0, delay * 2)

    def problems(self) -> list[str]:
        """Return what keeps the node from being ready."""
        return [problem for problem in (self.runtime_problem, self.network_problem) if problem]

    async def check(self) -> None:
        """Ask the runtime whether it and its network are ready."""
        before = self.problems(), self.features
        try:
            answer = await self._cri.status()
            status, self.features = answer.status, runtime_features(answer)
            conditions = {condition.type: condition for condition in status.conditions}
            for type_, attribute in (
                ("RuntimeReady", "runtime_problem"),
                ("NetworkReady", "network_problem"),
            ):
                condition = conditions.get(type_)
                text = ""
                if condition is None or not condition.status:
                    what = "" if type_ == "RuntimeReady" else "network "
                    reason = condition.reason if condition is not None else ""
                    message = condition.message if condition is not None else "no condition"
                    text = (
                        f"container runtime {what}not ready: {type_}=false reason:{reason} message:{message}"
                    )
                setattr(self, attribute, text)
        except CriError as error:
            self.runtime_problem = f"container runtime is down: {error.message}"
        if before != (self.problems(), self.features):
            self._changed()
        self.check_until_ready()

    async def refresh_images(self) -> None:
        """Read which images there are."""
        try:
            self.images = image_list(await self._cri.list_images())
        except CriError:
            pass

    def check_until_ready(self, *, afresh: bool = False) -> None:
        """Check a runtime that is not ready until it is: it does not announce that."""
        if not self.problems():
            return
        if self._checking is not None and not self._checking.done():
            if not afresh:
                return
            self._checking.cancel()
        self._checking = self._soon(self._check_until_ready())

    async def _check_until_ready(self) -> None:
        delay = _MEND_FIRST
        while self.problems():
            await self._clock.sleep(delay)
            delay = min(_MEND_LONGEST, delay * 1.5)
            await self._relist()

    async def follow(self) -> None:
        """Wake pods when the runtime reports that something happened to their containers."""
        delay = 0.1
        while True:
            try:
                async for container in container_events.changed_containers(self._cri):
                    if not container:
                        if await self._relist():
                            delay = 0.1
                        continue
                    self.events_seen += 1
                    self._soon(self._wake_owner_of(container))
            except container_events.Unsupported:
                log.warning("the container runtime has no events: looking every second")
                while True:
                    await self._clock.sleep(_RELIST_BLIND_SECONDS)
                    await self._relist()
            except (ConnectionError, CriError) as error:
                level = logging.WARNING if delay == 0.1 else logging.DEBUG
                log.log(level, "the events of the container runtime ended: %s", error)
                await self.check()
            await self._clock.sleep(delay)
            delay = min(_MEND_LONGEST, delay * 2)

    async def _wake_owner_of(self, container: str) -> None:
        """Wake the pod of a container until the runtime's record of it has settled."""
        for pause in _SETTLE_SECONDS:
            await self._clock.sleep(pause)
            worker = self._owner(container)
            if worker is None:  # too new to be known yet
                continue
            if worker.phase is not WorkerPhase.SYNCING:  # a terminating pod watches its own containers
                return
            runtime = worker.runtime
            if any(run.id == container and run.state is ContainerState.EXITED for run in runtime.runs):
                return
            if any(sandbox.id == container and not sandbox.ready for sandbox in runtime.sandboxes):
                return
            worker.wake()

    def _owner(self, container: str) -> PodWorker | None:
        for worker in self._workers.values():
            runtime = worker.runtime
            if any(run.id == container for run in runtime.runs) or any(
                sandbox.id == container for sandbox in runtime.sandboxes
            ):
                return worker
        return None

    async def _relist(self) -> bool:
        """Wake the pods whose containers changed since the last look; return False if the runtime does not answer."""
        begun, before_that = self._clock.monotonic(), self._relist_begun
        if before_that is not None:
            self._metrics.observe("kubelet_pleg_relist_interval_seconds", begun - before_that)
        self._relist_begun = begun
        await self.check()
        try:
            containers = await self._cri.list_containers()
            sandboxes = await self._cri.list_pod_sandboxes()
        except CriError:
            return False
        self.relisted_at = self._clock.now()
        self._metrics.observe("kubelet_pleg_relist_duration_seconds", self._clock.monotonic() - begun)
        seen: dict[str, set[tuple[str, int]]] = {}
        for listed in (*containers, *sandboxes):
            uid = listed.labels.get(label_keys.POD_UID)
            if uid:
                seen.setdefault(uid, set()).add((listed.id, listed.state))
        before, self._seen = self._seen, seen
        for uid, worker in self._workers.items():
            if seen.get(uid) != before.get(uid):
                worker.wake()
        return True

    async def run_relist(self, seconds: float) -> None:
        """Look at everything from time to time, in case an event was lost."""
        while True:
            await self._clock.sleep(seconds)
            await self._relist()
            await self.refresh_images()
