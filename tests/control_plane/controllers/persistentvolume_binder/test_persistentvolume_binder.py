"""Claims and volumes are bound against a real API server."""

from __future__ import annotations

from typing import Any

from pybernetes.client.refs import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from pybernetes.control_plane.controllers.persistentvolume_binder import persistentvolume_binder
from tests.cluster import Cluster
from tests.control_plane.controllers._volumes.volumes import ALL, becomes, claim, phase, volume
from tests.control_plane.controllers.managers import controllers
from tests.support import eventually


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
