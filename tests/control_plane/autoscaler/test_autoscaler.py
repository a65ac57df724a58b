"""The autoscaler against a real API server, with a cloud that does what a test says: also one that fails."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.client.refs import PODS
from pybernetes.control_plane.autoscaler.provider import CloudError
from pybernetes.lib.metrics.exposition import Exposition
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup
from tests.control_plane.autoscaler.worlds import world
from tests.support import eventually


async def test_a_node_comes_for_a_pod_and_goes_after_it() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3), large=FakeGroup(0, 3, cpu="16", memory="64Gi"))) as there:
        await there.pod("p", cpu="1500m", memory="3Gi")
        await there.run()
        assert there.cloud.calls == [("increase", "g", 1)]
        assert await there.events("TriggeredScaleUp") == ["pod triggered scale-up: [{g 0->1 (max: 3)}]"]
        assert await there.events("ScaledUpGroup") == [
            "Scale-up: setting group g size to 1 instead of 0 (max: 3)",
            "Scale-up: group g size set to 1 instead of 0 (max: 3)",
        ]
        assert (await there.status())["nodeGroups"][0]["scaleUp"]["status"] == "InProgress"
        await there.run()  # the pod still waits, and its node is on its way
        assert len(there.cloud.calls) == 1
        await there.register("g")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        status = await there.status()
        assert status["clusterWide"]["health"]["nodeCounts"]["registered"]["ready"] == 1
        await there.later(30)
        assert there.cloud.calls == [("increase", "g", 1)]
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)
        assert 'Scale-down: removing empty node "g-0"' in await there.events("ScaleDownEmpty")
        text = Exposition()
        there.autoscaler.metrics.write(text)
        assert b"cluster_autoscaler_scaled_up_nodes_total 1\n" in text.render()


@pytest.mark.parametrize("local", [False, True])
async def test_a_group_that_grew_rests_alone_if_a_flag_says_so(local: bool) -> None:
    cloud = FakeCloud(small=FakeGroup(0, 3, 1), large=FakeGroup(0, 3, cpu="16", memory="64Gi"))
    flags = (f"--scale-down-delay-type-local={local}", "--scale-down-delay-after-add=200s")
    async with world(cloud, *flags) as there:
        await there.give("small")
        await there.run()
        await there.pod("p", cpu="8")
        await there.run()
        assert cloud.calls == [("increase", "large", 1)]
        await there.register("large")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        await there.later(61)
        small, large = ("delete", "small", ["fake://small-0"]), ("delete", "large", ["fake://large-1"])
        await eventually(lambda: (small in cloud.calls) is local and not there.autoscaler.actuator.going)
        await there.later(140)
        await eventually(lambda: (large in cloud.calls) is not local and not there.autoscaler.actuator.going)
        await there.later(61)  # in a group that rests no node's time begins
        await eventually(lambda: small in cloud.calls and large in cloud.calls)


async def test_a_cloud_that_is_down_changes_nothing() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3))) as there:
        await there.pod("p")
        there.cloud.down = "out of order"
        with pytest.raises(CloudError):
            await there.run()
        assert await there.autoscaler._pass_safely() == 10.0
        there.cloud.down = ""
        await there.run()
        assert there.cloud.calls == [("increase", "g", 1)]


async def test_a_slow_cloud_is_waited_for_and_asked_once() -> None:
    cloud = FakeCloud(g=FakeGroup(0, 3, arrives=False))
    async with world(cloud, "--max-startup-time=600s") as there:
        await there.pod("p")
        autoscaler = there.autoscaler
        cloud.answers.clear()
        slow = asyncio.create_task(autoscaler._pass_safely())
        await eventually(lambda: autoscaler.liveness._began is not None)
        there.clock.seconds += 601
        assert autoscaler.liveness.check() == "last activity more than 600s ago"
        cloud.answers.set()
        await slow
        assert autoscaler.liveness.check() is None
        assert cloud.calls == [("increase", "g", 1)]
        for _ in range(4):  # the machine takes its time, which is no reason for another
            await there.later(200)
        assert cloud.calls == [("increase", "g", 1)]
        cloud.give("g", 1)
        await there.later(50)
        await there.register("g")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        assert cloud.calls == [("increase", "g", 1)]
        assert await there.events("ScaleUpTimedOut") == []


async def test_a_sick_cluster_is_left_alone() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 9, 5)), "--max-node-startup-time=1s") as there:
        await there.give("g", 5, ready=False)
        await there.pod("p")
        await there.later(5)
        assert there.cloud.calls == []
        assert await there.events("ClusterUnhealthy") == ["Cluster is unhealthy"]
        assert (await there.status())["clusterWide"]["health"]["status"] == "Unhealthy"
