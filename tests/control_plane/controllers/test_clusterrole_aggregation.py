"""Roles that are aggregated from others."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import CLUSTER_ROLES
from pybernetes.control_plane.controllers import (
    clusterrole_aggregation,
)
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually


async def test_roles_made_of_others() -> None:
    async with Cluster() as cluster, controllers(cluster.client, clusterrole_aggregation.CONTROLLER):
        client = cluster.client
        selector = {"matchLabels": {"example.com/all": "true"}}
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]

        def role(name: str, verbs: list[str]) -> Object:
            own = [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]
            return {"metadata": {"name": name, "labels": {"example.com/all": "true"}}, "rules": own}

        await client.create(
            CLUSTER_ROLES,
            {
                "metadata": {"name": "all"},
                "aggregationRule": {"clusterRoleSelectors": [selector]},
                "rules": [],
            },
        )
        await client.create(CLUSTER_ROLES, role("b", ["list"]))
        await client.create(CLUSTER_ROLES, role("a", ["get"]))
        await client.create(CLUSTER_ROLES, role("c", ["get"]))

        async def verbs() -> list[str]:
            obj = await get_or_none(client.get(CLUSTER_ROLES, "all"))
            return [verb for rule in obj.get("rules") or () for verb in rule["verbs"]]

        async def has(expected: list[str]) -> None:
            async def so() -> bool:
                return await verbs() == expected

            await eventually(so)

        await has(["get", "list"])
        await client.delete(CLUSTER_ROLES, "b")
        await has(["get"])
        await client.patch(CLUSTER_ROLES, "all", {"rules": rules * 1 + role("x", ["watch"])["rules"]})
        await has(["get"])
