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
    """The other pods that are to be here; what was deleted by force has nobody wait for its end."""
    return [
        each.pod for each in workers.values()
        if each.uid != uid and each.phase in _LIVING and not each.removed
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
        """Why a pod cannot be here; room is made for one that the node cannot do without."""
        context = self._context
        made = pod["metadata"].get("creationTimestamp")  # static pods have none and come after all others
        earlier = [
            each for each in other_pods(self._workers, pod["metadata"]["uid"])
            if not made or each["metadata"].get("creationTimestamp", "") <= made
        ]  # fmt: skip
        found = self._pressed(pod) or predicates.refusal(pod, context.node(), earlier, self._unsafe_sysctls)
        if found is not None and found[0].startswith("OutOf") and self._make_room(pod, earlier):
            return None
        if found is not None:
            context.counts.add("kubelet_admission_rejections_total", ("reason", found[0]))
        return found

    def _make_room(self, pod: Fields, earlier: list[Fields]) -> bool:
        """Ends other pods for one that the node cannot do without; False if that does not help."""
        if not is_critical(pod):
            return False
        context, workers = self._context, self._workers
        active = [each for each in earlier if workers[each["metadata"]["uid"]].phase is WorkerPhase.SYNCING]
        wanted = preemption.missing(pod, context.node()["status"].get("allocatable") or {}, active)
        chosen = preemption.victims(pod, active, wanted)
        for each in chosen or ():
            context.event(each, "Warning", "Preempting", preemption.MESSAGE)
            workers[each["metadata"]["uid"]].fail(
                "Preempting", preemption.MESSAGE, None, preemption.DISRUPTION
            )
            context.counts.add("kubelet_preemptions", ("preemption_signal", next(iter(wanted), "")))
        return chosen is not None
