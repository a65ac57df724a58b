"""Volumes: where a pod's claims let it be, what is planned for its node, and that the plan is carried out."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from pybernetes.scheduling import persistent_volumes
from pybernetes.scheduling.plugins.volume_binding.volume_binding import VolumeBinding
from tests.cluster import Cluster, eventually
from tests.control_plane.scheduler.helpers import add_node, is_on, message, node, pod, scheduling
from tests.scheduling.ours import Ours

ZONE = "topology.kubernetes.io/zone"


def claim(name: str, *, cls: str = "local", volume: str = "", size: str = "1Gi", **more: Any) -> Object:
    meta: Object = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        **more,
    }
    spec: Object = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": cls,
        "resources": {"requests": {"storage": size}},
    }
    if volume:
        spec["volumeName"] = volume
        meta["annotations"] = {persistent_volumes.BIND_COMPLETED: "yes"}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Bound" if volume else "Pending"}}


def volume(
    name: str, *, on: str = "", cls: str = "local", size: str = "1Gi", labels: Object | None = None
) -> Object:
    spec: Object = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls}
    if on:
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    meta = {"name": name, "labels": labels or {}, "resourceVersion": "1"}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Available"}}


def storage_class(
    name: str,
    provisioner: str = "kubernetes.io/no-provisioner",
    mode: str = "WaitForFirstConsumer",
    **more: Any,
) -> Object:
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def with_claims(name: str, *claims: str) -> Object:
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return pod(name, volumes=volumes)


def world(*objects: Object) -> Ours:
    ours = Ours()
    for name in ("a", "b", "c"):
        ours.node(node(name, labels={ZONE: f"zone-{name}"}))
    ours.object("storageclasses", storage_class("local"))
    for obj in objects:
        kind = (
            "persistentvolumeclaims"
            if "accessModes" in obj.get("spec", {}) and "namespace" in obj["metadata"]
            else ""
        )
        kind = kind or ("persistentvolumes" if "capacity" in obj.get("spec", {}) else "storageclasses")
        ours.object(kind, obj)
    return ours


def plan(ours: Ours, obj: Object, on: str) -> tuple[dict[str, str], list[str]]:
    """Which claim gets which volume on a node, and for which claims volumes are made."""
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


def test_zones_of_volumes() -> None:
    ours = world(claim("x", volume="v"), volume("v", labels={ZONE: "zone-a__zone-c"}))
    ours.node(node("d"))  # which does not say where it is
    assert ours.why_not(with_claims("p", "x", "missing")).endswith(
        'persistentvolumeclaim "missing" not found.'
    )
    allowed = {ours.decide(with_claims("p", "x")).node for _ in range(40)}
    assert allowed <= {"a", "c", "d"} and "b" not in allowed
    for name in ("a", "c", "d"):
        ours.snapshot.remove_node(name)
    text = "0/1 nodes are available: 1 node(s) had no available volume zone."
    assert ours.why_not(with_claims("p", "x")) == text


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


async def bind_as_the_controller_would(client: Client, name: str, volume_name: str) -> None:
    """What the volume controller does once a volume is meant for a claim."""
    bound = await client.get(PERSISTENT_VOLUME_CLAIMS, name, "default")
    bound["spec"]["volumeName"] = volume_name
    bound["metadata"].setdefault("annotations", {})[persistent_volumes.BIND_COMPLETED] = "yes"
    await client.update(PERSISTENT_VOLUME_CLAIMS, bound)


async def test_volumes_are_bound_before_the_pod_is() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(STORAGE_CLASSES, storage_class("local"))
        pv = volume("v", on="b")
        del pv["metadata"]["resourceVersion"]
        pv["spec"]["hostPath"] = {"path": "/data"}
        made = await client.create(PERSISTENT_VOLUMES, pv)
        await client.update_status(PERSISTENT_VOLUMES, {**made, "status": {"phase": "Available"}})
        async with scheduling(client):
            for name in ("a", "b"):
                await add_node(client, node(name))
            await client.create(PODS, with_claims("p", "x"))
            await eventually(lambda: message(client, "p"))
            wanted = claim("x")
            for key in ("uid", "resourceVersion"):
                del wanted["metadata"][key]
            await client.create(PERSISTENT_VOLUME_CLAIMS, wanted)

            async def meant() -> bool:
                stored = await client.get(PERSISTENT_VOLUMES, "v")
                return stored["spec"].get("claimRef", {}).get("name") == "x"

            await eventually(meant)
            assert not await is_on(client, "p", "b")  # not before the volume is there
            await bind_as_the_controller_would(client, "x", "v")
            await eventually(lambda: is_on(client, "p", "b"))
