"""The workers of all pods."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pybernetes.node.kubelet.pod.pod_worker import WorkerPhase
from pybernetes.node.kubelet.pod.pod_workers import PodWorkers


def test_pods_deleted_by_force_do_not_count() -> None:
    def worker(uid: str, phase: WorkerPhase, removed: bool = False) -> Any:
        return SimpleNamespace(uid=uid, pod={"uid": uid}, phase=phase, removed=removed)

    workers = PodWorkers()
    for known in (
        worker("self", WorkerPhase.SYNCING),
        worker("runs", WorkerPhase.SYNCING),
        worker("ends", WorkerPhase.TERMINATING),
        worker("forced", WorkerPhase.TERMINATING, removed=True),
        worker("ended", WorkerPhase.TERMINATED),
    ):
        workers.by_uid[known.uid] = known
    assert [pod["uid"] for pod in workers.others("self")] == ["runs", "ends"]
