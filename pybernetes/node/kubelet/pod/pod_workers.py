"""The workers of all pods of a node."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase

_LIVING = (WorkerPhase.SYNCING, WorkerPhase.TERMINATING)


class PodWorkers:
    """One worker for each pod, by uid."""

    def __init__(self) -> None:
        self.by_uid: dict[str, PodWorker] = {}

    def find(self, namespace: str, name: str, uid: str = "") -> PodWorker | None:
        """Return the worker of a pod by name, and by uid if one is given.

        The name is the newest pod's: one that was deleted by force may take its time to end.
        """
        named = [
            worker
            for worker in self.by_uid.values()
            if (worker.pod["metadata"]["namespace"], worker.pod["metadata"]["name"]) == (namespace, name)
            and uid in ("", worker.uid)
        ]
        return max(reversed(named), key=lambda worker: not worker.removed, default=None)

    def living(self) -> list[Object]:
        """Return the pods that have not ended yet."""
        return [worker.pod for worker in self.by_uid.values() if worker.phase in _LIVING]

    def others(self, uid: str) -> list[Object]:
        """Return the other pods that count here; nobody waits for the end of those that were deleted by force."""
        return [
            worker.pod
            for worker in self.by_uid.values()
            if worker.uid != uid and worker.phase in _LIVING and not worker.removed
        ]

    def addresses(self, uid: str) -> tuple[str, ...]:
        """Return the addresses of a pod, none if it is not here."""
        worker = self.by_uid.get(uid)
        return worker.addresses() if worker is not None else ()

    def wake(self, uid: str) -> None:
        """Wake the worker of a pod, if it is here."""
        worker = self.by_uid.get(uid)
        if worker is not None:
            worker.wake()

    def wake_many(self, uids: set[str]) -> None:
        """Wake the workers of several pods."""
        for uid in uids:
            self.wake(uid)

    def wake_all(self) -> None:
        """Wake every worker."""
        for worker in self.by_uid.values():
            worker.wake()

    def wake_deferred(self) -> None:
        """Wake the workers of pods that wait for resources of others."""
        for worker in self.by_uid.values():
            if worker.deferred:
                worker.wake()

    def probed(self, uid: str) -> None:
        """Tell the worker of a pod that a probe has a new result."""
        worker = self.by_uid.get(uid)
        if worker is not None:
            worker.probed()
