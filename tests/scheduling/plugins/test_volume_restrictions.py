"""VolumeRestrictions: disks and claims that only one pod may have."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from tests.scheduling.builders import node, pod
from tests.scheduling.ours import Ours
from tests.scheduling.volumes import claim, volume, with_claims, world


@pytest.mark.parametrize(
    ("mine", "theirs", "clash"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d"}}, True),
        ({"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, False),
        ({"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}}, {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}}, True),
        ({"iscsi": {"iqn": "q"}}, {"iscsi": {"iqn": "q", "readOnly": True}}, True),
        ({"rbd": {"monitors": ["1", "2"], "pool": "p", "image": "i"}}, {"rbd": {"monitors": ["2"], "pool": "p", "image": "i"}}, True),
        ({"rbd": {"monitors": ["1"], "pool": "p", "image": "i"}}, {"rbd": {"monitors": ["2"], "pool": "p", "image": "i"}}, False),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"iscsi": {"iqn": "d"}}, False),
    ],
)  # fmt: skip
def test_disks_of_one_writer(mine: Object, theirs: Object, clash: bool) -> None:
    ours = Ours()
    ours.node(node("n"))
    there = pod("there", volumes=[{"name": "v", **theirs}])
    there["metadata"]["uid"] = "there"
    ours.put(there, "n")
    decision = ours.decide(pod("p", volumes=[{"name": "v", **mine}]))
    assert (decision.node == "") is clash
    if clash:
        assert str(decision.diagnosis) == "0/1 nodes are available: 1 node(s) had no available disk."


def test_claims_of_one_pod() -> None:
    single = claim("x", volume="v")
    single["spec"]["accessModes"] = ["ReadWriteOncePod"]
    ours = world(single, volume("v"))
    there = with_claims("there", "x")
    there["metadata"]["uid"] = "there"
    ours.put(there, "a")
    text = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
    assert ours.why_not(with_claims("p", "x")) == f"0/3 nodes are available: 3 {text}."
    ours.take("there")
    assert ours.decide(with_claims("p", "x")).node
