"""Claims, volumes and what protects them, against a real API server."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_ATTRIBUTES_CLASSES,
)
from pybernetes.control_plane.controllers import (
    ephemeral_volume,
    persistentvolume_protection,
    persistentvolumeclaim_protection,
    volumeattributesclass_protection,
)
from pybernetes.control_plane.controllers.garbage_collector import garbage_collector
from pybernetes.control_plane.controllers.persistentvolume_binder import persistentvolume_binder
from tests.cluster import Cluster, eventually, pod
from tests.control_plane.controllers.managers import controllers, get_or_none

ALL = (
    persistentvolume_binder.CONTROLLER, persistentvolume_protection.CONTROLLER,
    persistentvolumeclaim_protection.CONTROLLER, ephemeral_volume.CONTROLLER, garbage_collector.CONTROLLER,
)  # fmt: skip


def claim(name: str, size: str = "1Gi", **spec: Any) -> Object:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": wanted}


def volume(name: str, size: str = "1Gi", **spec: Any) -> Object:
    own = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": f"/volumes/{name}"},
        **spec,
    }
    return {"metadata": {"name": name}, "spec": own}


async def phase(client: Client, kind: Any, name: str) -> str:
    obj = await get_or_none(client.get(kind, name, "default"))
    return obj["status"].get("phase", "") if obj is not None else "gone"


async def becomes(client: Client, kind: Any, name: str, expected: str) -> None:
    async def so() -> bool:
        return await phase(client, kind, name) == expected

    await eventually(so)


async def test_static_binding_and_release() -> None:
    async with Cluster() as cluster, controllers(cluster.client, *ALL):
        client = cluster.client
        await client.create(PERSISTENT_VOLUME_CLAIMS, claim("claim", "2Gi"))
        await client.create(PERSISTENT_VOLUMES, volume("small", "1Gi"))
        await becomes(client, PERSISTENT_VOLUMES, "small", "Available")
        assert await phase(client, PERSISTENT_VOLUME_CLAIMS, "claim") == "Pending"
        await client.create(PERSISTENT_VOLUMES, volume("large", "5Gi"))
        await becomes(client, PERSISTENT_VOLUME_CLAIMS, "claim", "Bound")
        await becomes(client, PERSISTENT_VOLUMES, "large", "Bound")
        bound = await client.get(PERSISTENT_VOLUME_CLAIMS, "claim", "default")
        assert bound["spec"]["volumeName"] == "large"
        assert bound["status"]["capacity"] == {"storage": "5Gi"}
        # A volume in use does not go, and is released with the claim.
        await client.delete(PERSISTENT_VOLUMES, "large")
        assert await phase(client, PERSISTENT_VOLUMES, "large") == "Bound"
        await client.delete(PERSISTENT_VOLUME_CLAIMS, "claim", "default")
        await becomes(client, PERSISTENT_VOLUME_CLAIMS, "claim", "gone")
        await becomes(client, PERSISTENT_VOLUMES, "large", "gone")
        assert await phase(client, PERSISTENT_VOLUMES, "small") == "Available"


async def test_lost_and_retained() -> None:
    async with Cluster() as cluster, controllers(cluster.client, persistentvolume_binder.CONTROLLER):
        client = cluster.client
        for number in range(3):
            await client.create(PERSISTENT_VOLUMES, volume(f"volume-{number}"))
            await client.create(PERSISTENT_VOLUME_CLAIMS, claim(f"claim-{number}"))
        for number in range(3):
            await becomes(client, PERSISTENT_VOLUME_CLAIMS, f"claim-{number}", "Bound")
        names = {obj["spec"]["volumeName"] for obj in (await client.list(PERSISTENT_VOLUME_CLAIMS)).items}
        assert names == {"volume-0", "volume-1", "volume-2"}
        first = (await client.get(PERSISTENT_VOLUME_CLAIMS, "claim-0", "default"))["spec"]["volumeName"]
        await client.patch(PERSISTENT_VOLUMES, first, {"metadata": {"finalizers": None}})
        await client.delete(PERSISTENT_VOLUMES, first)
        await becomes(client, PERSISTENT_VOLUME_CLAIMS, "claim-0", "Lost")
        second = (await client.get(PERSISTENT_VOLUME_CLAIMS, "claim-1", "default"))["spec"]["volumeName"]
        await client.patch(PERSISTENT_VOLUME_CLAIMS, "claim-1", {"metadata": {"finalizers": None}}, "default")
        await client.delete(PERSISTENT_VOLUME_CLAIMS, "claim-1", "default")
        await becomes(client, PERSISTENT_VOLUMES, second, "Released")


async def test_external_provisioner() -> None:
    async with Cluster() as cluster, controllers(cluster.client, *ALL):
        client = cluster.client
        default = {"storageclass.kubernetes.io/is-default-class": "true"}
        await client.create(PERSISTENT_VOLUME_CLAIMS, claim("early"))
        await client.create(
            STORAGE_CLASSES,
            {"metadata": {"name": "fast", "annotations": default}, "provisioner": "example.com/disk"},
        )

        async def asked(name: str) -> Any:
            obj = await client.get(PERSISTENT_VOLUME_CLAIMS, name, "default")
            annotations = obj["metadata"].get("annotations", {})
            return obj if "volume.kubernetes.io/storage-provisioner" in annotations else None

        # The class that comes later is the class of what waits.
        obj = await eventually(lambda: asked("early"))
        assert obj["spec"]["storageClassName"] == "fast"
        uid = obj["metadata"]["uid"]
        reference = {
            "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": "default", "name": "early", "uid": uid,
        }  # fmt: skip
        made = volume(
            f"pvc-{uid}", storageClassName="fast", claimRef=reference, persistentVolumeReclaimPolicy="Delete"
        )
        made["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": "example.com/disk"}
        await client.create(PERSISTENT_VOLUMES, made)
        await becomes(client, PERSISTENT_VOLUME_CLAIMS, "early", "Bound")
        await client.delete(PERSISTENT_VOLUME_CLAIMS, "early", "default")
        # Whoever provisioned it deletes it.
        await becomes(client, PERSISTENT_VOLUMES, f"pvc-{uid}", "Released")
        await client.create(
            STORAGE_CLASSES,
            {
                "metadata": {"name": "late"},
                "provisioner": "example.com/disk",
                "volumeBindingMode": "WaitForFirstConsumer",
            },
        )
        await client.create(PERSISTENT_VOLUME_CLAIMS, claim("delayed", storageClassName="late"))
        await client.create(PERSISTENT_VOLUMES, volume("free", storageClassName="late"))
        await becomes(client, PERSISTENT_VOLUMES, "free", "Available")
        assert await phase(client, PERSISTENT_VOLUME_CLAIMS, "delayed") == "Pending"
        node = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "node"}}}
        await client.patch(PERSISTENT_VOLUME_CLAIMS, "delayed", node, "default")
        await eventually(lambda: asked("delayed"))


async def test_a_claim_stays_while_pods_use_it() -> None:
    async with Cluster() as cluster, controllers(cluster.client, *ALL):
        client = cluster.client
        await client.create(PERSISTENT_VOLUMES, volume("volume"))
        await client.create(PERSISTENT_VOLUME_CLAIMS, claim("claim"))
        await becomes(client, PERSISTENT_VOLUME_CLAIMS, "claim", "Bound")

        async def unused(expected: str) -> None:
            async def so() -> bool:
                obj = await client.get(PERSISTENT_VOLUME_CLAIMS, "claim", "default")
                return [condition["status"] for condition in obj["status"].get("conditions", ())] == [
                    expected
                ]

            await eventually(so)

        await unused("True")
        user = pod("user")
        user["spec"] |= {
            "nodeName": "node",
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}],
        }
        await client.create(PODS, user)
        await unused("False")
        await client.delete(PERSISTENT_VOLUME_CLAIMS, "claim", "default")
        assert await phase(client, PERSISTENT_VOLUME_CLAIMS, "claim") == "Bound"
        await client.delete(PODS, "user", "default", grace=0)
        await becomes(client, PERSISTENT_VOLUME_CLAIMS, "claim", "gone")


async def test_ephemeral_volumes() -> None:
    async with Cluster() as cluster, controllers(cluster.client, *ALL):
        client = cluster.client
        template = {"metadata": {"labels": {"of": "pod"}}, "spec": claim("x")["spec"]}
        user = pod("user")
        user["spec"]["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
        made = await client.create(PODS, user)
        obj = await eventually(
            lambda: get_or_none(client.get(PERSISTENT_VOLUME_CLAIMS, "user-scratch", "default"))
        )
        assert obj["metadata"]["labels"] == {"of": "pod"}
        assert obj["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
        await client.delete(PODS, "user", "default", grace=0)
        await becomes(client, PERSISTENT_VOLUME_CLAIMS, "user-scratch", "gone")


async def test_attribute_classes_in_use_stay() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        async with controllers(client, volumeattributesclass_protection.CONTROLLER):
            await client.create(
                VOLUME_ATTRIBUTES_CLASSES,
                {"metadata": {"name": "gold"}, "driverName": "example.com", "parameters": {"iops": "1"}},
            )

            async def finalizers() -> Any:
                return (await client.get(VOLUME_ATTRIBUTES_CLASSES, "gold"))["metadata"].get("finalizers")

            assert await eventually(finalizers) == ["kubernetes.io/vac-protection"]
            await client.create(PERSISTENT_VOLUME_CLAIMS, claim("claim", volumeAttributesClassName="gold"))
            await client.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
            assert await finalizers() == ["kubernetes.io/vac-protection"]
            await client.patch(
                PERSISTENT_VOLUME_CLAIMS, "claim", {"metadata": {"finalizers": None}}, "default"
            )
            await client.delete(PERSISTENT_VOLUME_CLAIMS, "claim", "default")

            async def gone() -> bool:
                return await get_or_none(client.get(VOLUME_ATTRIBUTES_CLASSES, "gold")) is None

            await eventually(gone)
