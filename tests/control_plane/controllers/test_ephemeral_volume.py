"""Pods get the claims of their ephemeral volumes."""

from __future__ import annotations

from pybernetes.client.refs import (
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
)
from tests.cluster import Cluster, pod
from tests.control_plane.controllers._volumes.volumes import ALL, becomes, claim
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually


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
