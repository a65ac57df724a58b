"""The ConfigMap that says what the autoscaler thinks."""

from __future__ import annotations

import yaml

from pybernetes.control_plane.autoscaler import status
from pybernetes.control_plane.autoscaler.backoff import Backoffs
from pybernetes.control_plane.autoscaler.cluster.cluster_state import ClusterState, Health
from pybernetes.control_plane.autoscaler.cluster.groups import GroupState
from pybernetes.control_plane.autoscaler.provider import NodeGroup
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup
from tests.control_plane.autoscaler.worlds import world


async def test_a_status_that_cannot_be_written_keeps_nobody_waiting() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3)), "--namespace=absent") as there:
        await there.pod("p")
        await there.run()
        assert there.cloud.calls == [("increase", "g", 1)]


def test_a_status_has_as_many_groups_as_there_is_room_for() -> None:
    state = ClusterState(Backoffs(300, 1800, 10800), Health())
    groups = {f"g{number}": GroupState(NodeGroup(f"g{number}", 0, 9)) for number in range(2000)}
    groups["g1"].error = "x" * 500_000
    made = status.Status().make(state, groups, {}, False, 1e9)
    read = yaml.safe_load(text := status.text(made))
    assert 900_000 < len(text.encode()) < 1 << 20
    count = len(read["nodeGroups"])
    assert 0 < count < 2000 and read["message"] == f"there is room for {count} of 2000 node groups"
    assert [group["name"] for group in read["nodeGroups"][:2]] == ["g0", "g1"]
    small = status.Status().make(state, {"g0": groups["g0"]}, {}, False, 1e9)
    assert "message" not in yaml.safe_load(status.text(small))
