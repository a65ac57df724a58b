"""Nodes get their address ranges."""

from __future__ import annotations

from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import NODES
from pybernetes.control_plane.controllers import ttl
from pybernetes.control_plane.controllers.node_ipam import node_ipam
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers
from tests.support import eventually


async def cidr(client: Client, name: str) -> str:
    return (await client.get(NODES, name))["spec"].get("podCIDR", "")


async def test_nodes_get_ranges() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, {"metadata": {"name": "old"}, "spec": {"podCIDR": "10.244.0.0/24"}})
        options = {"allocate_node_cidrs": True, "cluster_cidr": "10.244.0.0/23"}
        async with controllers(client, node_ipam.CONTROLLER, ttl.CONTROLLER, **options):
            await client.create(NODES, {"metadata": {"name": "new"}})
            assert await eventually(lambda: cidr(client, "new")) == "10.244.1.0/24"
            # One too many waits until another goes.
            await client.create(NODES, {"metadata": {"name": "late"}})

            async def annotated() -> Any:
                return (await client.get(NODES, "late"))["metadata"].get("annotations")

            assert (await eventually(annotated))["node.alpha.kubernetes.io/ttl"] == "0"
            assert await cidr(client, "late") == ""
            await client.delete(NODES, "old")
            assert await eventually(lambda: cidr(client, "late")) == "10.244.0.0/24"
