"""VolumeBinding: where a pod's claims let it be, and what is planned for its node."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.scheduling import persistent_volumes
from pybernetes.scheduling.plugins.volume_binding.volume_binding import VolumeBinding
from tests.scheduling.ours import Ours
from tests.scheduling.volumes import ZONE, claim, storage_class, volume, with_claims, world


def plan(ours: Ours, obj: Object, on: str) -> tuple[dict[str, str], list[str]]:
    """Return which claim gets which volume on a node, and for which claims volumes are made."""
    plugin = ours.profile.plugins["VolumeBinding"]
    assert isinstance(plugin, VolumeBinding)
    planned = plugin.plan(ours.pods.read(obj), on)
    bindings = {bound["metadata"]["name"]: pv["metadata"]["name"] for pv, bound in planned.bindings}
    return bindings, [provisioned["metadata"]["name"] for provisioned in planned.provisions]


@pytest.mark.parametrize(
    ("objects", "claims", "reason"),
    [
        ((), ("x",), 'persistentvolumeclaim "x" not found'),
        ((claim("x", deletionTimestamp="2026-01-01T00:00:00Z"),), ("x",), 'persistentvolumeclaim "x" is being deleted'),
        ((claim("x", cls="now"), storage_class("now", mode="Immediate")), ("x",),
         "pod has unbound immediate PersistentVolumeClaims"),
        ((claim("x", cls="none"),), ("x",), "pod has unbound immediate PersistentVolumeClaims"),
        ((claim("x", volume="gone"),), ("x",),
         'persistentvolume "gone" not found'),
        ((claim("x"),), ("x",), "3 node(s) didn't find available persistent volumes to bind"),
        ((claim("x"), volume("small", on="a", size="1Mi")), ("x",),
         "3 node(s) didn't find available persistent volumes to bind"),
    ],
)  # fmt: skip
def test_why_not(objects: tuple[Object, ...], claims: tuple[str, ...], reason: str) -> None:
    assert world(*objects).why_not(with_claims("p", *claims)) == f"0/3 nodes are available: {reason}."


def test_a_lost_claim() -> None:
    lost = claim("x", volume="v")
    lost["status"]["phase"] = "Lost"
    text = 'persistentvolumeclaim "x" bound to non-existent persistentvolume "v"'
    assert world(lost, volume("v")).why_not(with_claims("p", "x")) == f"0/3 nodes are available: {text}."


def test_bound_volumes_restrict() -> None:
    ours = world(claim("x", volume="v"), volume("v", on="b"))
    assert ours.decide(with_claims("p", "x")).node == "b"
    assert plan(ours, with_claims("p", "x"), "b") == ({}, [])


def test_local_volumes_are_chosen_by_size() -> None:
    ours = world(
        claim("small"), claim("large", size="5Gi"), volume("a1", on="a", size="10Gi"), volume("a2", on="a"),
        volume("b1", on="b", size="2Gi"), volume("c1", on="c"),
    )  # fmt: skip
    obj = with_claims("p", "large", "small")
    assert ours.decide(obj).node == "a"
    assert plan(ours, obj, "a") == ({"small": "a2", "large": "a1"}, [])
    assert plan(ours, with_claims("q", "small"), "b") == ({"small": "b1"}, [])


def test_a_volume_is_given_once() -> None:
    ours = world(claim("x"), claim("y"), volume("v", on="a"))
    plugin = ours.profile.plugins["VolumeBinding"]
    assert isinstance(plugin, VolumeBinding)
    assert ours.decide(with_claims("p", "x")).node == "a"
    placed = ours.pods.read(with_claims("p", "x")).placed("a")
    assert plugin.reserve(placed) is None
    assumed = ours.listers.current(persistent_volumes.VOLUMES, "v")
    assert assumed is not None and assumed["spec"]["claimRef"]["name"] == "x"
    assert ours.decide(with_claims("q", "y")).node == ""
    plugin.unreserve(placed)
    assert ours.decide(with_claims("q", "y")).node == "a"
    # Two claims of one pod do not share a volume either.
    assert ours.decide(with_claims("r", "x", "y")).node == ""


def test_a_volume_that_is_meant_for_a_claim_is_its_own() -> None:
    meant = volume("meant", on="c", size="50Gi")
    meant["spec"]["claimRef"] = {"namespace": "default", "name": "x"}
    ours = world(claim("x"), meant, volume("smaller", on="a"))
    assert ours.decide(with_claims("p", "x")).node == "c"


def test_volumes_are_made_where_the_class_allows() -> None:
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["zone-b", "zone-c"]}]}]
    ours = world(
        claim("x", cls="cloud"), storage_class("cloud", "csi.example.com", allowedTopologies=allowed)
    )
    chosen = ours.decide(with_claims("p", "x")).node
    assert chosen in ("b", "c") and plan(ours, with_claims("p", "x"), chosen) == ({}, ["x"])


def test_volumes_are_made_where_there_is_room() -> None:
    ours = world(claim("x", cls="cloud", size="5Gi"), storage_class("cloud", "csi.example.com"))
    ours.object("csidrivers", {"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}})
    text = "0/3 nodes are available: 3 node(s) did not have enough free storage."
    assert ours.why_not(with_claims("p", "x")) == text
    for name, on, size in (("one", "a", "1Gi"), ("two", "b", "100Gi")):
        capacity = {"metadata": {"name": name, "namespace": "kube-system"}, "storageClassName": "cloud", "capacity": size,
                    "nodeTopology": {"matchLabels": {ZONE: f"zone-{on}"}}}  # fmt: skip
        ours.object("csistoragecapacities", capacity)
    assert ours.decide(with_claims("p", "x")).node == "b"


def test_a_claim_that_has_a_node_selected_stays_there() -> None:
    selected = claim("x", cls="cloud", annotations={persistent_volumes.SELECTED_NODE: "c"})
    ours = world(selected, storage_class("cloud", "csi.example.com"))
    assert ours.decide(with_claims("p", "x")).node == "c"
