"""What did not come out as it was wished for is put right, and what an earlier autoscaler left behind."""

from __future__ import annotations

import pytest

from pybernetes.client.refs import NODES
from pybernetes.control_plane.autoscaler.provider import CREATING, Instance
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup
from tests.control_plane.autoscaler.worlds import world
from tests.support import eventually


async def test_machines_that_never_become_nodes_are_given_back() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3))) as there:
        await there.pod("p")
        await there.run()
        await there.run()  # the machine is seen, and no node of it
        await there.later(890)
        assert there.cloud.calls == [("increase", "g", 1)]
        await there.later(20)
        assert ("delete", "g", ["fake://g-0"]) in there.cloud.calls
        assert await there.events("DeleteUnregistered") == ["Removed unregistered node fake://g-0"]
        assert len(await there.events("ScaleUpTimedOut")) == 1
        await there.later(10)  # in back-off: nothing flaps
        assert [call[0] for call in there.cloud.calls].count("increase") == 1
        assert (await there.status())["nodeGroups"][0]["scaleUp"]["backoffInfo"]["errorCode"] == "timeout"


async def test_a_cloud_that_gives_too_few_is_told_to_want_fewer() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 5, arrives=False))) as there:
        for number in range(3):
            await there.pod(f"p{number}", cpu="2")
        await there.run()
        assert there.cloud.calls == [("increase", "g", 3)]
        await there.give("g")
        await there.later(901)
        assert ("decrease", "g", -2) in there.cloud.calls
        assert not [call for call in there.cloud.calls if call[0] == "delete"]  # the one that came stays
        assert there.cloud.groups["g"].target == 1


async def test_machines_that_cannot_be_made_are_deleted_and_the_group_rests() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, arrives=False))) as there:
        await there.pod("p")
        await there.run()
        there.cloud.groups["g"].instances.append(Instance("fake://broken", CREATING, "QUOTA", "too many", 1))
        await there.run()
        assert ("delete", "g", ["fake://broken"]) in there.cloud.calls
        text = "Failed adding 1 nodes to group g due to OutOfResource.QUOTA; source errors: too many"
        assert await there.events("ScaleUpFailed") == [text]
        await there.later(60)
        assert [call[0] for call in there.cloud.calls].count("increase") == 1


@pytest.mark.parametrize(("seconds", "kept"), [(0, False), (100, True), (20, False)])
async def test_what_an_autoscaler_before_this_one_found_out(seconds: int, kept: bool) -> None:
    """A node that was not needed for a while goes as soon as if nothing had begun anew, if a flag says so."""
    async with world(FakeCloud(g=FakeGroup(0, 3, 1)), f"--node-deletion-candidate-ttl={seconds}s") as there:
        await there.give("g")
        moment = str(int(there.clock.now() - 50))
        taint = {"key": "DeletionCandidateOfClusterAutoscaler", "value": moment, "effect": "PreferNoSchedule"}
        await there.client.patch(NODES, "g-0", {"spec": {"taints": [taint]}})
        await eventually(lambda: there.autoscaler.cluster.nodes["g-0"].taints)
        await there.autoscaler.repairs.clean_up()
        assert bool((await there.client.get(NODES, "g-0"))["spec"].get("taints")) is kept
        await there.run()
        await there.later(15)
        await eventually(lambda: bool(there.cloud.calls) is kept)
