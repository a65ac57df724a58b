"""The life of a pod on its node, without a node."""

import asyncio
import gc
import weakref
from types import SimpleNamespace
from typing import Any

from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase, concerns

POD: dict[str, Any] = {
    "metadata": {"uid": "u", "name": "n", "namespace": "x"},
    "spec": {"containers": []},
}


class Ending(PodWorker):
    """A worker that finds its pod gone."""

    async def _sync(self) -> float | None:
        self.phase = WorkerPhase.GONE
        return None


def test_nothing_is_kept_of_a_pod_that_is_gone() -> None:
    """Not even until garbage is looked for, which is rare: many pods may come and go before."""

    async def live() -> "weakref.ref[PodWorker]":
        finished = asyncio.Event()
        context: Any = SimpleNamespace(clock=Clock(), metrics=KubeletMetrics())
        statuses: Any = SimpleNamespace(get=lambda uid: None)
        worker = Ending(context, statuses, POD, lambda uid: finished.set())
        await finished.wait()
        await worker.close()
        return weakref.ref(worker)

    gc.disable()
    try:
        assert asyncio.run(live())() is None
    finally:
        gc.enable()


def test_only_what_others_changed_of_a_pod_has_it_looked_at_again() -> None:
    pod: dict[str, Any] = {
        "metadata": {"name": "p", "uid": "1", "resourceVersion": "1", "managedFields": [{"manager": "a"}]},
        "spec": {"containers": [{"name": "c"}], "readinessGates": [{"conditionType": "door"}]},
        "status": {"phase": "Pending"},
    }
    written = {
        **pod,
        "metadata": {**pod["metadata"], "resourceVersion": "2", "managedFields": []},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    assert concerns(pod) == concerns(written)
    gate = {**written, "status": {"conditions": [{"type": "door", "status": "True"}]}}
    labelled = {**written, "metadata": {**written["metadata"], "labels": {"a": "b"}}}
    resized = {**written, "spec": {**pod["spec"], "containers": [{"name": "c", "resources": {}}]}}
    for changed in (gate, labelled, resized):
        assert concerns(changed) != concerns(written)
