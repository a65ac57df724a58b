"""ReplicaSchedulingPreferences with API servers of members, whose workloads the test itself runs."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import DEPLOYMENTS, NAMESPACES, PODS
from pybernetes.control_plane.federation.controllers.preference_controller import PreferenceController
from pybernetes.control_plane.federation.kinds import REPLICA_SCHEDULING_PREFERENCES
from tests.cluster import Cluster, pod
from tests.control_plane.federation.fleet import FEDERATED_DEPLOYMENTS, FEDERATED_NAMESPACES, Fleet, federated
from tests.support import eventually

pytestmark = pytest.mark.slow
TEMPLATE: dict[str, Any] = {
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "example/web:1"}]}},
    }
}  # fmt: skip


async def replicas(fleet: Fleet) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, cluster in fleet.members.items():
        for obj in (await cluster.client.list(DEPLOYMENTS, "demo")).items:
            counts[name] = obj["spec"]["replicas"]
    return counts


async def says(cluster: Cluster, ready: int, waiting: int) -> None:
    """Do what controllers of a member would do: pods that have no room, and a status."""
    for number in range(waiting):
        made = pod(f"waiting-{number}", "demo", labels={"app": "web"})
        await cluster.client.create(PODS, made)
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        await cluster.client.patch_status(
            PODS, f"waiting-{number}", {"status": {"conditions": [condition]}}, "demo"
        )
    now = await cluster.client.get(DEPLOYMENTS, "web", "demo")
    status = {
        "replicas": now["spec"]["replicas"],
        "readyReplicas": ready,
        "observedGeneration": now["metadata"]["generation"],
    }
    await cluster.client.patch(DEPLOYMENTS, "web", {"status": status}, "demo", subresource="status")


async def test_replicas_flow_to_where_there_is_room_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PreferenceController, "unschedulable_seconds", 0.0)
    async with Fleet("one", "two") as fleet:
        await fleet.install("namespaces", "deployments.apps")
        await fleet.join()
        await fleet.start()
        host = fleet.host.client
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", one="", two="")
        preference = {
            "metadata": {"name": "web", "namespace": "demo"},
            "spec": {"targetKind": "FederatedDeployment", "totalReplicas": 9, "rebalance": True, "clusters": {"one": {"weight": 2}, "two": {"weight": 1}}},
        }  # fmt: skip
        await host.create(REPLICA_SCHEDULING_PREFERENCES, preference)
        await host.create(FEDERATED_DEPLOYMENTS, federated(FEDERATED_DEPLOYMENTS, "web", "demo", TEMPLATE))

        async def spread(one: int, two: int) -> None:
            async def there() -> bool:
                return await replicas(fleet) == {"one": one, "two": two}

            try:
                await eventually(there)
            except AssertionError:
                raise AssertionError(f"{await replicas(fleet)}, not {one} and {two}") from None

        await spread(6, 3)
        await says(fleet.members["two"], 3, 0)
        # Only four fit: the others go elsewhere, and two go on waiting for room.
        await says(fleet.members["one"], 4, 2)
        await spread(6, 5)
        # There is room.
        await fleet.members["one"].client.delete_collection(PODS, "demo")
        await says(fleet.members["one"], 6, 0)
        await spread(6, 3)
        # A cluster that is lost is not counted on.
        await says(fleet.members["two"], 3, 0)
        await fleet.members["two"].stop()

        async def alone() -> bool:
            return (await fleet.members["one"].client.get(DEPLOYMENTS, "web", "demo"))["spec"][
                "replicas"
            ] == 9

        await eventually(alone)
