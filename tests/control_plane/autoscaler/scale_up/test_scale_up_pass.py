"""Making room: which group grows, what is said, and what rests afterwards."""

from __future__ import annotations

import pytest

from pybernetes.client.refs import EVENTS, NODES
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup
from tests.control_plane.autoscaler.worlds import world
from tests.support import eventually


@pytest.mark.parametrize(
    "key", ["example.com/driver", "starts.example.com/agent", "node.kubernetes.io/network-unavailable"]
)
async def test_a_node_that_only_starts_is_waited_for(key: str) -> None:
    """It takes no pods yet, which is no reason for another one."""
    flags = ("--startup-taint=example.com/driver", "--startup-taint-prefix=starts.example.com/")
    async with world(FakeCloud(g=FakeGroup(0, 3)), *flags) as there:
        await there.pod("p", cpu="1500m")
        await there.run()
        await there.register("g")
        taint = {"key": key, "effect": "NoSchedule"}
        await there.client.patch(NODES, "g-0", {"spec": {"taints": [taint]}})
        await eventually(lambda: not there.autoscaler.cluster.nodes["g-0"].ready)
        await there.run()
        await there.later(60)
        assert there.cloud.calls == [("increase", "g", 1)]
        counts = (await there.status())["clusterWide"]["health"]["nodeCounts"]["registered"]
        assert (counts["ready"], counts["notStarted"]) == (0, 1)
        # A taint that is none of these is another matter: later nodes have it as well.
        await there.client.patch(NODES, "g-0", {"spec": {"taints": [{**taint, "key": "example.com/other"}]}})
        await eventually(lambda: there.autoscaler.cluster.nodes["g-0"].ready)
        await there.run()
        text = "pod didn't trigger scale-up: 1 node(s) had untolerated taint(s)"
        assert await there.events("NotTriggerScaleUp") == [text]


async def test_why_nothing_helps_is_told_once() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3), full=FakeGroup(0, 0))) as there:
        await there.pod("p", cpu="3")
        await there.run()
        await there.run()
        expected = ["pod didn't trigger scale-up: 1 Insufficient cpu, 1 max node group size reached"]
        assert await there.events("NotTriggerScaleUp") == expected
        events = [
            event
            for event in (await there.client.list(EVENTS)).items
            if event["reason"] == "NotTriggerScaleUp"
        ]
        assert [event["count"] for event in events] == [1]


async def test_a_group_that_fails_rests_and_another_helps() -> None:
    cloud = FakeCloud(
        bad=FakeGroup(0, 3, failure="no machines left"), good=FakeGroup(0, 3, cpu="4", memory="8Gi")
    )
    async with world(cloud) as there:
        await there.pod("p", cpu="1500m", memory="3Gi")
        assert await there.run() == 0.0  # it goes on at once
        await there.run()
        assert cloud.calls == [("increase", "bad", 1), ("increase", "good", 1)]
        assert await there.events("FailedToScaleUpGroup") == [
            "Scale-up failed for group bad: no machines left"
        ]
        state = (await there.status())["nodeGroups"][0]["scaleUp"]
        assert (state["status"], state["backoffInfo"]["errorCode"]) == ("Backoff", "cloudProviderError")
        for _ in range(3):
            await there.later(60)
        assert [call for call in cloud.calls if call[1] == "bad"] == [("increase", "bad", 1)]
