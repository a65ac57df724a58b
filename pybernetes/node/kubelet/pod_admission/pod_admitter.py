"""Decides whether the node takes a pod, beside those that it has."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.pod.pod_worker import WorkerPhase
from pybernetes.node.kubelet.pod.pod_workers import PodWorkers
from pybernetes.node.kubelet.pod_admission import predicates, preemption
from pybernetes.node.kubelet.pod_admission.app_armor import host_has_app_armor
from pybernetes.node.kubelet.pod_kinds import is_critical

Refusal = tuple[str, str]  # reason and message


class PodAdmitter:
    """Admits pods. ``pressed`` refuses them while the node is under pressure."""

    def __init__(
        self,
        context: Context,
        workers: PodWorkers,
        unsafe_sysctls: list[str],
        pressed: Callable[[Object], Refusal | None],
    ) -> None:
        self._context, self._workers = context, workers
        self._unsafe_sysctls, self._pressed = unsafe_sysctls, pressed
        self._app_armor = host_has_app_armor()

    def refusal(self, pod: Object) -> Refusal | None:
        """Return why a pod cannot run here; for a critical one, others are preempted."""
        context = self._context
        made = pod["metadata"].get("creationTimestamp")  # static pods have none and come after all others
        earlier = [
            other for other in self._workers.others(pod["metadata"]["uid"])
            if not made or other["metadata"].get("creationTimestamp", "") <= made
        ]  # fmt: skip
        refusal = self._pressed(pod) or predicates.refusal(
            pod, context.node(), earlier, self._unsafe_sysctls, self._app_armor
        )
        if refusal is not None and refusal[0].startswith("OutOf") and self._make_room(pod, earlier):
            return None
        if refusal is not None:
            context.metrics.add("kubelet_admission_rejections_total", ("reason", refusal[0]))
        return refusal

    def _make_room(self, pod: Object, earlier: list[Object]) -> bool:
        """Preempt other pods for a critical one; return False if that does not help."""
        if not is_critical(pod):
            return False
        context, workers = self._context, self._workers.by_uid
        active = [
            other for other in earlier if workers[other["metadata"]["uid"]].phase is WorkerPhase.SYNCING
        ]
        wanted = preemption.missing_amounts(pod, context.node()["status"].get("allocatable") or {}, active)
        chosen = preemption.victims(pod, active, wanted)
        for victim in chosen or ():
            context.event(victim, "Warning", "Preempting", preemption.MESSAGE)
            workers[victim["metadata"]["uid"]].fail(
                "Preempting", preemption.MESSAGE, None, preemption.DISRUPTION
            )
            context.metrics.add("kubelet_preemptions", ("preemption_signal", next(iter(wanted), "")))
        return chosen is not None
