"""Claims in use are protected."""

from __future__ import annotations

from pybernetes.client.refs import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
)
from tests.cluster import Cluster, pod
from tests.control_plane.controllers._volumes.volumes import ALL, becomes, claim, phase, volume
from tests.control_plane.controllers.managers import controllers
from tests.support import eventually


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
