"""Pods by how far they are, as a metric tells it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pybernetes.node.kubelet.pod.pod_worker import WorkerPhase
from pybernetes.node.kubelet.server.stats_handlers import working_pods


def worker(phase: WorkerPhase, removed: bool = False, static: bool = False) -> Any:
    annotations = {"kubernetes.io/config.source": "file"} if static else {}
    return SimpleNamespace(phase=phase, removed=removed, pod={"metadata": {"annotations": annotations}})


def test_working_pods() -> None:
    workers = [
        worker(WorkerPhase.SYNCING), worker(WorkerPhase.SYNCING), worker(WorkerPhase.SYNCING, static=True),
        worker(WorkerPhase.TERMINATING, removed=True), worker(WorkerPhase.TERMINATED), worker(WorkerPhase.GONE),
    ]  # fmt: skip
    counts = working_pods(workers)
    assert len(counts) == 12 and {
        tuple(dict(labels).values()): count for labels, count in counts.items() if count
    } == {
        ("desired", "sync", ""): 2,
        ("desired", "sync", "true"): 1,
        ("orphan", "terminating", ""): 1,
        ("desired", "terminated", ""): 1,
    }
