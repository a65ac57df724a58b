"""Which machines are whose: forgotten ones, ones that two claim, and nodes that come and go meanwhile."""

from __future__ import annotations

from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.autoscaler.cluster.groups import Groups
from pybernetes.control_plane.autoscaler.provider import (
    GroupOptions,
    NodeReference,
)
from tests.control_plane.autoscaler import fakes
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup, cluster_of, node
from tests.control_plane.autoscaler.worlds import world
from tests.support import eventually


async def test_a_forgotten_machine_costs_no_node() -> None:
    """The cloud forgets a machine that still is a ready node with pods: nobody is moved, nothing is deleted."""
    async with world(FakeCloud(g=FakeGroup(0, 3, 2))) as there:
        await there.give("g", 2)
        await there.pod("p", "g-0", cpu="1500m")
        await there.pod("q", "g-1", cpu="1500m")
        await there.run()
        there.cloud.groups["g"].instances.pop()
        await there.later(300)
        await there.later(300)
        assert there.cloud.calls == []


async def test_a_kubelet_that_names_another_machine_as_its_own_costs_nobody_theirs() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1))) as there:
        await there.give("g")
        await there.pod("p", "g-0", cpu="1500m")
        thief = fakes.node("thief", group="g", provider_id="fake://g-0")
        del thief["metadata"]["creationTimestamp"]
        await there.client.create(NODES, thief)
        await there.client.patch_status(NODES, "thief", {"status": thief["status"]})
        await there.client.patch(NODES, "thief", {"spec": {"taints": None}})
        await eventually(lambda: (node := there.autoscaler.cluster.nodes.get("thief")) and node.ready)
        await there.run()
        assert there.autoscaler.groups.contested == {"g-0", "thief"}
        assert there.autoscaler.groups.states["g"].nodes == ["g-0"]
        await there.later(61)
        await there.later(61)
        assert there.cloud.calls == []  # it is empty, and would be gone otherwise, with the machine of g-0
        await there.client.delete(NODES, "thief")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)


async def test_groups_that_have_the_same_machine_are_left_alone() -> None:
    async with world(
        FakeCloud(g=FakeGroup(0, 3, 1), h=FakeGroup(0, 3, 1), i=FakeGroup(0, 3, cpu="4"))
    ) as there:
        there.cloud.give("g", 1)
        there.cloud.groups["h"].instances = list(there.cloud.groups["g"].instances)
        await there.register("g")
        await there.pod("p", cpu="3")
        await there.run()
        await there.later(61)
        assert {call[1] for call in there.cloud.calls} == {"i"}
        assert there.autoscaler.groups.states["h"].error == "the machine fake://g-0 is in g and in h"


async def test_nodes_may_come_and_go_while_the_cloud_is_asked() -> None:
    cluster = cluster_of([node("a", group="g"), node("b", group="g")])

    new = cluster.read_node(node("c", group="g"))

    class Busy(FakeCloud):
        async def group_of(self, node: NodeReference) -> str:
            cluster.set_node("a", None)
            cluster.set_node("c", new)
            return await super().group_of(node)

    groups = Groups(Busy(g=FakeGroup(0, 3, 2)), GroupOptions())
    await groups.refresh(cluster.nodes, 0.0)
    assert groups.states["g"].nodes == ["a", "b"] and set(groups.nodes) == {"a", "b"}
