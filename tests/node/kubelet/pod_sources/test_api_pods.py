"""Pods of the API server."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.pod_kinds import SOURCE, is_critical, is_static
from pybernetes.node.kubelet.pod_sources.api_pods import ApiPods, from_api
from tests.node.kubelet.pods import pod


class Lost:
    """An API server that tells its pods while it is there; connections to it are refused while it is not."""

    def __init__(self, *pods: Object) -> None:
        self.pods, self.is_there, self.refused = pods, True, 0

    def watch(self, *words: Any, resource_version: str, initial: bool, **options: Any) -> Any:
        return self._Watch(self, initial)

    class _Watch:
        def __init__(self, server: Lost, initial: bool) -> None:
            self.server, self.initial = server, initial

        async def __aenter__(self) -> Any:
            if not self.server.is_there:
                self.server.refused += 1
                raise ConnectionRefusedError
            return self

        async def __aexit__(self, *error: object) -> None:
            pass

        async def batch(self) -> list[tuple[str, Object]]:
            if not self.initial:
                raise ConnectionResetError
            self.initial = False
            end = {"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": "7"}
            return [*(("ADDED", one) for one in self.server.pods), ("BOOKMARK", {"metadata": end})]


async def test_pods_stay_for_as_long_as_no_api_server_answers() -> None:
    one, two = pod(), pod()
    one["metadata"] |= {"resourceVersion": "5"}
    two["metadata"] |= {"resourceVersion": "6", "uid": "u2", "name": "p2"}
    server: Any = Lost(one, two)
    clock, removed = ManualClock(), list[str]()
    workers: Any = SimpleNamespace(by_uid={})

    def add(new: Object) -> None:
        uid = new["metadata"]["uid"]
        worker = SimpleNamespace(update=lambda changed: None, remove=lambda: removed.append(uid))
        workers.by_uid[uid] = worker

    statuses: Any = SimpleNamespace(seen=lambda uid: None)
    pods = ApiPods(server, "node", clock, workers, statuses, add=add, mirror_lost=lambda lost: None)
    running = asyncio.create_task(pods.run())
    await pods.informer.wait_synced()
    server.is_there = False
    await clock.advance(24 * 3600)
    assert set(workers.by_uid) == {"u", "u2"} and not removed and pods.object_of(one, static=False) is one
    # Asked for all day, and not without a pause.
    assert 24 * 60 <= server.refused <= 24 * 3600

    # What was deleted meanwhile goes when a server tells so, and nothing else.
    server.pods, server.is_there = (two,), True
    pods.informer.resource_version = ""  # the server has no history of before it started (410)
    await clock.advance(60)
    assert removed == ["u"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def test_no_pod_of_the_api_is_static_because_it_says_so() -> None:
    """Static pods are not evicted, and others are preempted for them."""
    for claim in ("file", "http", ""):
        made = pod()
        made["metadata"] |= {"annotations": {SOURCE: claim, "a": "b"}, "managedFields": [{}]}
        seen = from_api(made)
        assert not is_static(seen) and not is_critical(seen)
        assert seen["metadata"]["annotations"] == {SOURCE: "api", "a": "b"}
        assert "managedFields" not in seen["metadata"]
