"""What the kubelet knows of one pod, and what it reports about it."""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState, PodRuntime
from pybernetes.node.kubelet.cri.pod_runtime_reader import read_pod_runtime, with_runs, with_sandbox
from pybernetes.node.kubelet.pod.allocation import Allocation, with_resources
from pybernetes.node.kubelet.probes.probe_manager import READINESS, STARTUP
from pybernetes.node.kubelet.status.pod_status import pod_status
from pybernetes.node.kubelet.status.status_inputs import StatusInputs
from pybernetes.node.kubelet.status.status_manager import StatusManager


class PodView:
    """One pod: as it is wanted, as the runtime has it, and as it is reported."""

    def __init__(self, context: Context, statuses: StatusManager, pod: Object) -> None:
        self.context, self.statuses = context, statuses
        self.allocation = Allocation(pod)
        self.wanted = pod  # as the API has it; ``pod`` has the resources that were allocated
        self.pod = with_resources(pod, self.allocation.allocated)
        self.uid: str = pod["metadata"]["uid"]
        self.runtime = PodRuntime(self.uid)
        self.waiting: dict[
            str, tuple[str, str]
        ] = {}  # why containers that should run do not: reason and message
        self.verdict: tuple[str, str] | None = None
        self.disruption = ""
        self.seen_at = context.clock.monotonic()
        self.run_ended: dict[str, asyncio.Event] = {}  # set for those who follow the log of a run

    @property
    def name(self) -> str:
        """The namespace and name of the pod, for people."""
        return f"{self.pod['metadata']['namespace']}/{self.pod['metadata']['name']}"

    def set_pod(self, pod: Object) -> None:
        """Take over a new definition of the pod."""
        self.wanted = pod
        self.pod = with_resources(pod, self.allocation.allocated)

    # -- what the runtime has ----------------------------------------------------------------------------

    async def refresh(self) -> None:
        """Read everything that the runtime has of the pod."""
        self.runtime = await read_pod_runtime(self.context.cri, self.uid, self.runtime)
        for run in self.runtime.runs:
            ended = self.run_ended.get(run.id)
            if ended is not None and run.state is not ContainerState.RUNNING:
                ended.set()

    async def refresh_sandbox(self, made: str) -> None:
        """Read a sandbox that was just created, and nothing else."""
        self.runtime = await with_sandbox(self.context.cri, self.runtime, made)

    async def refresh_runs(self, made: list[str]) -> None:
        """Read runs that were just started, and nothing else if that is enough."""
        try:
            self.runtime = await with_runs(self.context.cri, self.runtime, made)
        except CriError:
            await self.refresh()

    def addresses(self) -> tuple[str, ...]:
        """Return the pod's addresses."""
        if self.pod["spec"].get("hostNetwork"):
            return self.context.addresses
        sandbox = self.runtime.sandbox
        return sandbox.addresses if sandbox is not None else ()

    def _inputs(self, ended: bool = False) -> StatusInputs:
        results = self.context.probes.results
        return StatusInputs(
            now=self.context.clock.now(),
            runtime_name=self.context.runtime_name,
            host=self.context.addresses,
            waiting=self.waiting,
            ready=results[READINESS],
            started=results[STARTUP],
            restarting=any(
                condition["type"] == "AllContainersRestarting" and condition["status"] == "True"
                for condition in self._previous().get("conditions", ())
            ),
            ended=ended,
            verdict=self.verdict,
            disruption=self.disruption,
            resize=() if ended else self.allocation.conditions(self.pod, self.runtime),
            in_force=self.allocation.shown(self.runtime),
        )

    def _previous(self) -> Object:
        return self.statuses.get(self.uid) or self.pod.get("status", {})

    # -- what is said about it ---------------------------------------------------------------------------

    def report(self, ended: bool = False) -> Object:
        """Compute the pod's status, have it written and return it. ``ended``: nothing of the pod will start again."""
        before = self._previous()
        status = pod_status(self.pod, self.runtime, before, self._inputs(ended))
        created = self.pod["metadata"].get("creationTimestamp")
        if created and before.get("phase") == "Pending" and status["phase"] == "Running":
            took = self.context.clock.now() - rfc3339.parse(created)
            seen = self.context.clock.monotonic() - self.seen_at
            self.context.metrics.observe("kubelet_pod_start_duration_seconds", seen)
            self.context.metrics.observe("kubelet_pod_start_total_duration_seconds", took)
            others = self.context.images.pull_seconds(self.uid) + init_seconds(status)
            self.context.metrics.observe("kubelet_pod_start_sli_duration_seconds", max(0.0, took - others))
        if status["phase"] != "Pending":
            self.context.starts.end(self.uid)
        self.statuses.set(self.pod, status)
        return status

    def probe(self, ending: bool = False) -> None:
        """Probe the running containers; those of a terminating pod for readiness only."""
        previous = self._previous()
        reported = {
            status["name"]: status
            for key in ("initContainerStatuses", "containerStatuses")
            for status in previous.get(key, ())
        }
        addresses = self.addresses()
        if addresses:
            self.context.probes.follow(self.pod, self.runtime, addresses[0], reported=reported, ending=ending)


def init_seconds(status: Object) -> float:
    """Return how long the init containers of a pod ran that have ended."""
    total = 0.0
    for container in status.get("initContainerStatuses") or ():
        ended = (container.get("state") or {}).get("terminated") or {}
        if ended.get("startedAt") and ended.get("finishedAt"):
            total += max(0.0, rfc3339.parse(ended["finishedAt"]) - rfc3339.parse(ended["startedAt"]))
    return total
