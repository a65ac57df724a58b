"""Which pods a node takes, beside those that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.eviction.ranking import is_critical
from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase
from pybernetes.node.kubelet.pod_admission import predicates, preemption

Fields = dict[str, Any]
Refusal = tuple[str, str]  # reason and message
_LIVING = (WorkerPhase.SYNCING, WorkerPhase.TERMINATING)


def other_pods(workers: Mapping[str, PodWorker], uid: str) -> list[Fields]:
    """Return the other pods that count here; nobody waits for the end of those that were deleted by force."""
    return [
        worker.pod for worker in workers.values()
        if worker.uid != uid and worker.phase in _LIVING and not worker.removed
    ]  # fmt: skip


class PodAdmitter:
    """Lets pods in. ``pressed`` refuses them while the node is short of something."""

    def __init__(
        self,
        context: Context,
        workers: Mapping[str, PodWorker],
        unsafe_sysctls: list[str],
        pressed: Callable[[Fields], Refusal | None],
    ) -> None:
        self._context, self._workers = context, workers
        self._unsafe_sysctls, self._pressed = unsafe_sysctls, pressed

    def refusal(self, pod: Fields) -> Refusal | None:
        """Return why a pod cannot run here; for a critical one, others are preempted."""
        context = self._context
        made = pod["metadata"].get("creationTimestamp")  # static pods have none and come after all others
        earlier = [
            other for other in other_pods(self._workers, pod["metadata"]["uid"])
            if not made or other["metadata"].get("creationTimestamp", "") <= made
        ]  # fmt: skip
        refusal = self._pressed(pod) or predicates.refusal(pod, context.node(), earlier, self._unsafe_sysctls)
        if refusal is not None and refusal[0].startswith("OutOf") and self._make_room(pod, earlier):
            return None
        if refusal is not None:
            context.counts.add("kubelet_admission_rejections_total", ("reason", refusal[0]))
        return refusal

    def _make_room(self, pod: Fields, earlier: list[Fields]) -> bool:
        """Preempt other pods for a critical one; return False if that does not help."""
        if not is_critical(pod):
            return False
        context, workers = self._context, self._workers
        active = [
            other for other in earlier if workers[other["metadata"]["uid"]].phase is WorkerPhase.SYNCING
        ]
        wanted = preemption.missing(pod, context.node()["status"].get("allocatable") or {}, active)
        chosen = preemption.victims(pod, active, wanted)
        for victim in chosen or ():
            context.event(victim, "Warning", "Preempting", preemption.MESSAGE)
            workers[victim["metadata"]["uid"]].fail(
                "Preempting", preemption.MESSAGE, None, preemption.DISRUPTION
            )
            context.counts.add("kubelet_preemptions", ("preemption_signal", next(iter(wanted), "")))
        return chosen is not None
