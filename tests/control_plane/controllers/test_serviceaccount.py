"""Every active namespace has a service account."""

from __future__ import annotations

from pybernetes.client.refs import NAMESPACES, SERVICE_ACCOUNTS
from pybernetes.control_plane.controllers import (
    serviceaccount,
)
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers, get_or_none, names, namespace
from tests.support import eventually


async def test_default_account_comes_and_comes_back() -> None:
    async with Cluster() as cluster, controllers(cluster.client, serviceaccount.CONTROLLER):
        client = cluster.client
        await client.create(NAMESPACES, namespace("blue"))
        first = await eventually(lambda: get_or_none(client.get(SERVICE_ACCOUNTS, "default", "blue")))
        await client.delete(SERVICE_ACCOUNTS, "default", "blue")
        again = await eventually(lambda: get_or_none(client.get(SERVICE_ACCOUNTS, "default", "blue")))
        assert first["metadata"]["uid"] != again["metadata"]["uid"]
        assert await eventually(lambda: get_or_none(client.get(SERVICE_ACCOUNTS, "default", "kube-system")))
        # A namespace that is going gets none.
        await client.delete(NAMESPACES, "blue")
        await client.delete(SERVICE_ACCOUNTS, "default", "blue")
        await client.create(NAMESPACES, namespace("green"))
        await eventually(lambda: get_or_none(client.get(SERVICE_ACCOUNTS, "default", "green")))
        assert await names(client, SERVICE_ACCOUNTS, "blue") == []
