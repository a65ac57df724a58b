"""DaemonSets against a real API server and hollow nodes."""

from __future__ import annotations

from pybernetes.client.refs import (
    DAEMON_SETS,
    NODES,
    PODS,
)
from tests.control_plane.controllers._workload.running import images, status
from tests.control_plane.controllers.world import World, workload
from tests.support import eventually


async def test_daemons_follow_nodes() -> None:
    async with World() as world:
        await world.client.create(DAEMON_SETS, workload("agent"))
        await eventually(lambda: status(world.get(DAEMON_SETS, "agent")).get("numberAvailable") == 2)
        assert sorted(pod["spec"]["nodeName"] for pod in world.pods()) == ["n0", "n1"]
        taint = {"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}}
        await world.client.patch(NODES, "n1", taint)
        await eventually(lambda: status(world.get(DAEMON_SETS, "agent")).get("desiredNumberScheduled") == 1)
        await eventually(lambda: len(world.pods()) == 1)
        await world.client.patch(NODES, "n1", {"spec": {"taints": None}})
        await eventually(lambda: status(world.get(DAEMON_SETS, "agent")).get("numberAvailable") == 2)
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(DAEMON_SETS, "agent", patch, "default", type="strategic")
        await eventually(lambda: images(world.pods()) == {"nginx:2"} and len(world.pods()) == 2)
        # A pod that fails is replaced. It runs before, so that nobody writes its status any more.
        await eventually(lambda: status(world.get(DAEMON_SETS, "agent")).get("updatedNumberScheduled") == 2)
        await eventually(lambda: status(world.get(DAEMON_SETS, "agent")).get("numberAvailable") == 2)
        failed = world.pods()[0]["metadata"]["name"]
        await world.client.patch(
            PODS, failed, {"status": {"phase": "Failed"}}, "default", subresource="status"
        )
        await eventually(lambda: len(world.pods()) == 2 and failed not in [pod["metadata"]["name"] for pod in world.pods()])  # fmt: skip
