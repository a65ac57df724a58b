"""Classes in use are protected."""

from __future__ import annotations

from typing import Any

from pybernetes.client.refs import (
    PERSISTENT_VOLUME_CLAIMS,
    VOLUME_ATTRIBUTES_CLASSES,
)
from pybernetes.control_plane.controllers import (
    volumeattributesclass_protection,
)
from tests.cluster import Cluster
from tests.control_plane.controllers._volumes.volumes import claim
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually


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
