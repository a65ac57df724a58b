"""Keeps probing containers: a task for each probe of each running container."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.cri.client import CriClient
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime
from pybernetes.node.kubelet.probes import handlers
from pybernetes.runtime.metrics import Histogram

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LIVENESS, READINESS, STARTUP = "liveness", "readiness", "startup"
_FIELDS = {LIVENESS: "livenessProbe", READINESS: "readinessProbe", STARTUP: "startupProbe"}


def probed_containers(spec: Object) -> list[Object]:
    """Return the containers that may have probes."""
    return [
        *(container for container in spec.get("initContainers", ()) if is_restartable(container)),
        *spec.get("containers", ()),
    ]


class ProbeManager:
    """The probes of all pods. ``report`` records an event, ``changed`` is called when a pod has a new result."""

    def __init__(
        self,
        cri: CriClient,
        clock: Clock,
        report: Callable[[Object, Object, str, str], None],
        changed: Callable[[str], None],
    ) -> None:
        self._cri, self._clock = cri, clock
        self._report, self._changed = report, changed
        self.results: dict[str, dict[str, bool]] = {LIVENESS: {}, READINESS: {}, STARTUP: {}}
        self._tasks: dict[str, dict[tuple[str, str], asyncio.Task[None]]] = {}  # by uid: (run, type)
        self._started: dict[str, asyncio.Event] = {}  # by run: whether it counts as started
        self.counts: dict[tuple[str, ...], int] = {}
        self.seconds: dict[tuple[str, ...], Histogram] = {}

    def follow(
        self,
        pod: Object,
        runtime: PodRuntime,
        address: str,
        *,
        reported: Mapping[str, Object],
        ending: bool = False,
    ) -> None:
        """Probe the running containers of a pod; those of a terminating pod for readiness only.

        ``reported`` are the last statuses of containers by name: a restarted kubelet goes on from them.
        """
        uid = pod["metadata"]["uid"]
        tasks = self._tasks.setdefault(uid, {})
        wanted: set[tuple[str, str]] = set()
        for container in probed_containers(pod["spec"]):
            run = runtime.current(container["name"])
            if run is None or run.state is not ContainerState.RUNNING:
                continue
            for kind, name in _FIELDS.items():
                if name not in container:
                    continue
                wanted.add((run.id, kind))
                if ending and kind != READINESS:
                    if (run.id, kind) in tasks:
                        tasks[run.id, kind].cancel()  # its result still holds
                elif (run.id, kind) not in tasks:
                    again = self._restore(kind, run, reported.get(container["name"]) or {})
                    tasks[run.id, kind] = asyncio.create_task(
                        self._keep_probing(pod, container, run, kind, address, again), name=f"{kind} {uid}"
                    )
        for key in [key for key in tasks if key not in wanted]:
            tasks.pop(key).cancel()
            self.results[key[1]].pop(key[0], None)
            if not any(run == key[0] for run, _ in tasks):
                self._started.pop(key[0], None)

    def _restore(self, kind: str, run: ContainerRun, reported: Object) -> bool:
        """Take over what was reported of a run before; return True if there was something."""
        if not reported.get("containerID", "").endswith(run.id) or run.id in self.results[kind]:
            return False
        if kind == READINESS and reported.get("ready"):
            self.results[kind][run.id] = True
            return True
        if kind == STARTUP and reported.get("started"):
            self.results[kind][run.id] = True
            return True
        return False

    def stop(self, uid: str) -> None:
        """Stop probing a pod."""
        for (run, kind), task in self._tasks.pop(uid, {}).items():
            task.cancel()
            self.results[kind].pop(run, None)
            self._started.pop(run, None)

    async def close(self) -> None:
        """Stop every probe."""
        tasks = [task for tasks in self._tasks.values() for task in tasks.values()]
        for uid in list(self._tasks):
            self.stop(uid)
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- one probe ---------------------------------------------------------------------------------------

    async def _keep_probing(
        self, pod: Object, container: Object, run: ContainerRun, kind: str, address: str, again: bool
    ) -> None:
        probe = container[_FIELDS[kind]]
        period = float(probe.get("periodSeconds") or 10)
        started = self._started.setdefault(run.id, asyncio.Event())
        if "startupProbe" not in container or self.results[STARTUP].get(run.id):
            started.set()
        if again:
            # After a restart of the kubelet, not all at once.
            await self._clock.sleep(random.random() * period)
        else:
            due = run.started + float(probe.get("initialDelaySeconds") or 0)
            await self._clock.sleep(max(0.0, due - self._clock.now()))
        if kind == STARTUP:
            if started.is_set():
                return
        else:
            await started.wait()
        in_row, last = 0, None
        while True:
            began = self._clock.monotonic()
            try:
                good, text = await self._probe(probe, container, run, address)
            except handlers.Unknown as error:
                self._report(pod, container, "Unhealthy", f"{kind.capitalize()} probe errored: {error}")
                await self._clock.sleep(period)
                continue
            self._count(pod, container, kind, good, self._clock.monotonic() - began)
            if text:
                self._record_event(pod, container, kind, good, text)
            in_row = in_row + 1 if good is last else 1
            last = good
            threshold = int(
                probe.get("successThreshold" if good else "failureThreshold") or (1 if good else 3)
            )
            if in_row >= threshold and self._settle(pod, run, kind, good):
                return
            await self._clock.sleep(period)

    def _settle(self, pod: Object, run: ContainerRun, kind: str, good: bool) -> bool:
        """Record a result; return True if there is nothing left to probe."""
        before = self.results[kind].get(run.id)
        self.results[kind][run.id] = good
        if kind == STARTUP and good:
            self._started[run.id].set()
        if before is not good and not (kind == LIVENESS and good):
            self._changed(pod["metadata"]["uid"])
        return kind == STARTUP or (kind == LIVENESS and not good)

    async def _probe(
        self, probe: Object, container: Object, run: ContainerRun, address: str
    ) -> tuple[bool, str]:
        try:
            return True, await handlers.run_probe(self._cri, probe, container, run.id, address)
        except handlers.Failed as error:
            return False, str(error)

    def _record_event(self, pod: Object, container: Object, kind: str, good: bool, text: str) -> None:
        name = kind.capitalize()
        if good:
            self._report(pod, container, "ProbeWarning", f"{name} probe warning: {text}")
        else:
            self._report(pod, container, "Unhealthy", f"{name} probe failed: {text}")

    def forget(self, uid: str) -> None:
        """Forget the results and metrics of a pod that is gone."""
        self.counts = {key: count for key, count in self.counts.items() if key[2] != uid}
        self.seconds = {key: histogram for key, histogram in self.seconds.items() if key[2] != uid}

    def _count(self, pod: Object, container: Object, kind: str, good: bool, seconds: float) -> None:
        meta = pod["metadata"]
        key = (kind.capitalize(), container["name"], meta["uid"], meta["name"], meta["namespace"],
               "successful" if good else "failed")  # fmt: skip
        self.counts[key] = self.counts.get(key, 0) + 1
        if key[:-1] not in self.seconds:
            self.seconds[key[:-1]] = Histogram(_BOUNDS)
        self.seconds[key[:-1]].observe(seconds)
