"""ReplicaSets against a real API server and hollow nodes."""

from __future__ import annotations

from pybernetes.client.refs import (
    EVENTS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
)
from pybernetes.runtime.owned_objects import controller_of
from tests.control_plane.controllers._workload.running import has
from tests.control_plane.controllers.world import World, workload
from tests.support import eventually


async def test_pods_are_adopted_and_let_go() -> None:
    async with World(("replicaset", "replicationcontroller")) as world:
        orphan = {"metadata": {"name": "orphan", "namespace": "default", "labels": {"app": "rs"}}, "spec": workload("rs")["spec"]["template"]["spec"]}  # fmt: skip
        await world.client.create(PODS, orphan)
        await world.client.create(REPLICA_SETS, workload("rs", replicas=2))
        await eventually(lambda: len(world.pods("rs-")) == 1 and controller_of(world.get(PODS, "orphan")))
        await world.client.patch(PODS, "orphan", {"metadata": {"labels": {"app": "free"}}}, "default")
        await eventually(lambda: len(world.pods("rs-")) == 2 and not controller_of(world.get(PODS, "orphan")))
        # A controller of the older kind, with a plain selector, takes the pod in.
        older = workload("rc", replicas=1)
        older["spec"] |= {"selector": {"app": "free"}}
        older["spec"]["template"]["metadata"]["labels"] = {"app": "free"}
        await world.client.create(REPLICATION_CONTROLLERS, older)
        await eventually(lambda: (controller_of(world.get(PODS, "orphan")) or {}).get("kind") == "ReplicationController")  # fmt: skip
        assert len(world.pods("rc-")) == 0


async def test_failures_to_make_pods_are_shown() -> None:
    async with World(("replicaset",)) as world:
        given = workload("rs", replicas=3)
        given["spec"]["template"]["spec"]["priorityClassName"] = "nobody-knows"
        await world.client.create(REPLICA_SETS, given)
        await eventually(lambda: has(world.get(REPLICA_SETS, "rs"), "ReplicaFailure", "FailedCreate"))

        async def told() -> bool:
            events = (await world.client.list(EVENTS, "default")).items
            return any(event["reason"] == "FailedCreate" for event in events)

        await eventually(told)
