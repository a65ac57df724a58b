"""Removing nodes: their pods are moved before, and whoever wants to may hold one up for a while."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pybernetes.client.refs import NODES, PODS
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup
from tests.control_plane.autoscaler.worlds import World, world
from tests.support import eventually


async def test_pods_are_moved_before_their_node_goes() -> None:
    async with world(FakeCloud(g=FakeGroup(1, 3, 2))) as there:
        await there.give("g", 2)
        await there.pod("p", "g-0", cpu="500m")
        await there.pod("q", "g-1", cpu="1200m")
        await there.run()
        assert (await there.status())["clusterWide"]["scaleDown"]["candidates"] == 1
        await eventually(
            lambda: any(
                t["key"].startswith("DeletionCandidate") for t in there.autoscaler.cluster.nodes["g-0"].taints
            )
        )
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)
        assert [pod["metadata"]["name"] for pod in (await there.client.list(PODS, "default")).items] == ["q"]
        node = await there.client.get(NODES, "g-0")
        assert node["spec"]["unschedulable"]
        assert await there.events("ScaleDown")


async def test_pods_that_should_be_gone_do_not_keep_a_node_whose_kubelet_is_silent() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1)), "--scale-down-unready-time=60s") as there:
        await there.give("g", ready=False)
        await there.pod("p", "g-0", cpu="1500m", terminationGracePeriodSeconds=5)
        await there.run()
        await there.client.delete(PODS, "p", "default")  # nobody ends it
        await there.run()
        await there.later(61)
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)


DELAY = "delay-deletion.cluster-autoscaler.kubernetes.io/volumes"


@asynccontextmanager
async def kept(*flags: str) -> AsyncIterator[World]:
    """A node that is to go, and that somebody wants to stay a little longer."""
    async with world(FakeCloud(g=FakeGroup(0, 3, 1)), *flags) as there:
        await there.give("g")
        await there.client.patch(NODES, "g-0", {"metadata": {"annotations": {DELAY: "x"}}})
        await there.run()
        await there.later(61)
        await eventually(lambda: there.autoscaler.cluster.nodes["g-0"].deleting)
        await there.run()
        assert there.cloud.calls == [] and list(there.autoscaler.actuator.going) == ["g-0"]
        yield there
        await eventually(lambda: there.cloud.calls == [("delete", "g", ["fake://g-0"])])


async def test_a_node_is_kept_while_somebody_wants_it_to_be() -> None:
    async with kept() as there:
        await there.client.patch(NODES, "g-0", {"metadata": {"annotations": {DELAY: None}}})


async def test_nobody_keeps_a_node_for_ever() -> None:
    async with kept("--node-deletion-delay-timeout=30s") as there:
        there.clock.seconds += 31


async def test_a_removal_that_fails_leaves_the_node_open() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1))) as there:
        await there.give("g")
        await there.run()
        there.cloud.groups["g"].failure = "cannot delete"
        await there.later(61)
        await eventually(lambda: not there.autoscaler.actuator.going)
        node = await there.client.get(NODES, "g-0")
        assert not node["spec"].get("unschedulable")
        assert not [taint for taint in node["spec"].get("taints", ()) if "ClusterAutoscaler" in taint["key"]]
        assert await there.events("ScaleDownFailed") == ["failed to delete node: cannot delete"]
        await there.later(61)  # it is left alone for a while
        assert [call[0] for call in there.cloud.calls] == ["delete"]
