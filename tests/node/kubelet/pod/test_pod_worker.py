"""The life of a pod on its node, without a node."""

import asyncio
import gc
import weakref
from types import SimpleNamespace
from typing import Any

from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase
from pybernetes.node.kubelet.status.status_manager import StatusManager, overruled

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
        context: Any = SimpleNamespace(clock=None)
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


def test_what_others_say_of_a_pod_is_set_right_if_it_stays_so() -> None:
    def status(ready: str) -> dict[str, Any]:
        return {"conditions": [{"type": "Ready", "status": ready}, {"type": "Gate", "status": ready}]}

    assert not overruled(status("True"), {})
    assert not overruled({"conditions": [{"type": "Gate", "status": "True"}]}, status("False"))
    assert overruled(status("True"), status("False"))

    async def run() -> None:
        timers: list[Any] = []
        shown = {"metadata": {**POD["metadata"]}, "status": status("False")}
        patches: list[dict[str, Any]] = []

        async def patch(ref: Any, name: str, body: dict[str, Any], namespace: str, **how: Any) -> Any:
            patches.append(body["status"])
            shown["status"] = status("True")
            return shown

        client: Any = SimpleNamespace(patch=patch)
        clock: Any = SimpleNamespace(call_later=lambda seconds, call: timers.append(call))
        statuses = StatusManager(client, clock, lambda pod: shown)
        statuses.set(POD, status("True"))
        await statuses.flush("u")
        assert len(patches) == 1
        statuses.seen("u")
        assert not timers
        shown["status"] = status("False")  # somebody else wrote, and again
        statuses.seen("u")
        statuses.seen("u")
        assert len(timers) == 1
        timers.pop()()
        await statuses.flush("u")
        assert len(patches) == 2 and not timers

    asyncio.run(run())
