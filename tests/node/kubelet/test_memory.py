"""Pods that come and go leave nothing behind in a kubelet."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cri_api.v1 import api_pb2 as messages

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CONFIG_MAPS, EVENTS, PODS, SECRETS
from pybernetes.lib.memory import forgetting
from pybernetes.node.kubelet.kubelet import Kubelet
from pybernetes.runtime import correlation
from tests import growth
from tests.cluster import Cluster
from tests.node.kubelet.crio import IMAGE, Crio, kubelet_on
from tests.support import eventually

ROUNDS = 6
# Values that are counted when there are 64, and places for values of sizes that there are so many of.
FILLING = {"Histogram.bins", "Histogram.waiting", "Expiry._heap"}


class Ending(Crio):
    """A runtime whose containers can be stopped, removed, and asked how they are."""

    async def ExecSync(self, request: Any, context: Any) -> Any:
        return messages.ExecSyncResponse(exit_code=0)

    async def ListContainerStats(self, request: Any, context: Any) -> Any:
        return messages.ListContainerStatsResponse()

    async def StopContainer(self, request: Any, context: Any) -> Any:
        self.containers[request.container_id][1] = messages.CONTAINER_EXITED
        return messages.StopContainerResponse()

    async def RemoveContainer(self, request: Any, context: Any) -> Any:
        self.containers.pop(request.container_id, None)
        return messages.RemoveContainerResponse()

    async def StopPodSandbox(self, request: Any, context: Any) -> Any:
        for _, container in self.containers.items():
            if container[0].pod_sandbox_id == request.pod_sandbox_id:
                container[1] = messages.CONTAINER_EXITED
        return messages.StopPodSandboxResponse()

    async def RemovePodSandbox(self, request: Any, context: Any) -> Any:
        self.sandboxes.pop(request.pod_sandbox_id, None)
        self.containers = {
            name: container
            for name, container in self.containers.items()
            if container[0].pod_sandbox_id != request.pod_sandbox_id
        }
        return messages.RemovePodSandboxResponse()


def pod(name: str) -> dict[str, Any]:
    """Return a pod with volumes, variables and probes."""
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    container = {
        "name": "c", "image": IMAGE, "imagePullPolicy": "IfNotPresent", "readinessProbe": probe, "livenessProbe": probe,
        "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": f"secret-{name}", "key": "a"}}}],
        "volumeMounts": [{"name": "map", "mountPath": "/map"}, {"name": "room", "mountPath": "/room"}],
    }  # fmt: skip
    volumes = [{"name": "map", "configMap": {"name": f"map-{name}"}}, {"name": "room", "emptyDir": {}}]
    spec = {
        "nodeName": "node",
        "containers": [container],
        "volumes": volumes,
        "terminationGracePeriodSeconds": 1,
    }
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


async def once(client: Client, kubelet: Kubelet, name: str) -> None:
    """Make a pod and what it needs, wait until it is ready and measured, and delete all of it."""

    async def ready() -> bool:
        status = (await client.get(PODS, name, "default")).get("status", {})
        return any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for condition in status.get("conditions", ())
        )

    async def gone() -> bool:
        try:
            await client.get(PODS, name, "default")
        except NotFound:
            return True
        return False

    await client.create(
        CONFIG_MAPS, {"metadata": {"name": f"map-{name}", "namespace": "default"}, "data": {"a": "b"}}
    )
    await client.create(
        SECRETS, {"metadata": {"name": f"secret-{name}", "namespace": "default"}, "stringData": {"a": "b"}}
    )
    await client.create(PODS, pod(name))
    await eventually(ready)
    await kubelet.stats.summary()
    await client.delete(PODS, name, "default")
    await eventually(gone)
    await eventually(
        lambda: all(worker.pod["metadata"]["name"] != name for worker in kubelet.workers.values())
    )
    await client.delete(CONFIG_MAPS, f"map-{name}", "default")
    await client.delete(SECRETS, f"secret-{name}", "default")


async def settled(cluster: Cluster, kubelet: Kubelet, first: int) -> Counter[str]:
    """Run some rounds, and count what is left of them; the least of several looks counts."""
    names = [f"pod-{number}" for number in range(first, first + ROUNDS)]
    await asyncio.gather(*(once(cluster.client, kubelet, name) for name in names))
    assert kubelet.recorder is not None
    await kubelet.recorder.sender.flush()
    for event in (await cluster.client.list(EVENTS, "default")).items:
        await cluster.client.delete(EVENTS, event["metadata"]["name"], "default")
    await cluster.server.store.compact(cluster.server.store.revision)

    async def look() -> Counter[str]:
        await forgetting.forget()
        return growth.census()

    return await growth.at_rest(look)


@pytest.mark.slow
async def test_pods_that_come_and_go_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlation, "_LEAST_SWEPT", 2)
    runtime = Ending()
    runtime.network = True
    async with Cluster() as cluster, kubelet_on(runtime, tmp_path, cluster.rest_client()) as kubelet:
        await settled(cluster, kubelet, 0)
        before, tables = await settled(cluster, kubelet, ROUNDS), growth.sizes()
        midway, between = await settled(cluster, kubelet, 2 * ROUNDS), growth.sizes()
        after, filled = (
            await settled(cluster, kubelet, 3 * ROUNDS),
            growth.grown_tables(tables, between, ROUNDS - 1),
        )
        gc.collect()
    steps = {name: (midway[name] - before[name], count - midway[name]) for name, count in after.items()}
    of_node = {
        name: step
        for name, step in steps.items()
        if min(step) >= ROUNDS - 1
        and name.startswith(("pybernetes.node.", "pybernetes.runtime.", "pybernetes.client."))
    }
    assert (of_node, filled - FILLING) == ({}, set())
