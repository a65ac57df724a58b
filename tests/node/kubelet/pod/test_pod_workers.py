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


def test_a_name_is_the_newest_pods() -> None:
    """Commands and logs are not for a pod that was deleted by force and still ends, but for the one in its place."""

    def worker(uid: str, name: str = "web", removed: bool = False) -> Any:
        return SimpleNamespace(
            uid=uid, pod={"metadata": {"namespace": "shop", "name": name}}, removed=removed
        )

    workers = PodWorkers()
    old, new, other, newest = (
        worker("old", removed=True),
        worker("new"),
        worker("other", "db"),
        worker("newest"),
    )
    for known in (old, new, other):
        workers.by_uid[known.uid] = known
    assert workers.find("shop", "web") is new
    assert workers.find("shop", "web", "old") is old
    assert workers.find("shop", "web", "other") is None
    assert workers.find("elsewhere", "web") is None
    workers.by_uid["new"].removed = True
    assert workers.find("shop", "web") is new  # the last that there was
    workers.by_uid["newest"] = newest
    assert workers.find("shop", "web") is newest
