"""Deletion of namespaces: what goes, and in which order."""

from __future__ import annotations

from typing import Any

from pybernetes.client import AlreadyExists, Client, StatusError
from pybernetes.client.refs import CONFIG_MAPS, DEPLOYMENTS, EVENTS, NAMESPACES, PODS, SECRETS, SERVICES
from pybernetes.control_plane.controllers import serviceaccount
from pybernetes.control_plane.controllers.namespace import namespace
from tests.cluster import Cluster, pod
from tests.control_plane.controllers import managers
from tests.control_plane.controllers.managers import controllers, get_or_none, names
from tests.support import eventually

QUICK = {"namespace_finalization_delay": 0.0}


async def gone(client: Client, name: str) -> bool:
    return await get_or_none(client.get(NAMESPACES, name)) is None


async def condition(client: Client, name: str, type_: str) -> dict[str, Any]:
    status = (await client.get(NAMESPACES, name))["status"]
    return next((condition for condition in status.get("conditions", ()) if condition["type"] == type_), {})


async def fill(client: Client, name: str) -> None:
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "example/image:1"}]},
    }
    await client.create(CONFIG_MAPS, {"metadata": {"name": "config", "namespace": name}})
    await client.create(SECRETS, {"metadata": {"name": "secret", "namespace": name}})
    await client.create(PODS, pod("pod", name))
    await client.create(
        SERVICES, {"metadata": {"name": "service", "namespace": name}, "spec": {"ports": [{"port": 80}]}}
    )
    await client.create(
        DEPLOYMENTS,
        {
            "metadata": {"name": "web", "namespace": name},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        },
    )
    await client.create(
        EVENTS,
        {
            "metadata": {"name": "event", "namespace": name},
            "involvedObject": {"kind": "Pod", "namespace": name, "name": "pod"},
        },
    )


async def test_everything_goes_and_nothing_else() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        async with controllers(client, namespace.CONTROLLER, serviceaccount.CONTROLLER, **QUICK):
            for name in ("blue", "green"):
                await client.create(NAMESPACES, managers.namespace(name))
                await fill(client, name)
            await client.delete(NAMESPACES, "blue")
            await eventually(lambda: gone(client, "blue"))
            assert await names(client, PODS) == ["pod"]
            assert "config" in await names(client, CONFIG_MAPS, "green")
            assert await names(client, EVENTS, "blue") == []
            # The same name again is a new namespace.
            await client.create(NAMESPACES, managers.namespace("blue"))
            assert await names(client, SECRETS, "blue") == []


async def test_pods_first() -> None:
    """CVE-2024-7598: while a pod of a namespace lives, so does what confines it."""
    async with Cluster() as cluster, controllers(cluster.client, namespace.CONTROLLER, **QUICK):
        client = cluster.client
        await client.create(NAMESPACES, managers.namespace("blue"))
        await client.create(PODS, pod("held", "blue", finalizers=["example.com/wait"]))
        await client.create(CONFIG_MAPS, {"metadata": {"name": "config", "namespace": "blue"}})
        await client.delete(NAMESPACES, "blue")
        await eventually(lambda: condition(client, "blue", "NamespaceFinalizersRemaining"))
        finalizers = await condition(client, "blue", "NamespaceFinalizersRemaining")
        assert finalizers["status"] == "True"
        assert finalizers["message"] == (
            "Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances"
        )
        assert (await condition(client, "blue", "NamespaceDeletionContentFailure"))["status"] == "False"
        assert "deletionTimestamp" in (await client.get(PODS, "held", "blue"))["metadata"]
        assert await names(client, CONFIG_MAPS, "blue") == ["config"]
        await client.patch(PODS, "held", {"metadata": {"finalizers": None}}, "blue")
        await eventually(lambda: gone(client, "blue"))


async def test_other_finalizers_keep_the_namespace() -> None:
    async with Cluster() as cluster, controllers(cluster.client, namespace.CONTROLLER, **QUICK):
        client = cluster.client
        made = await client.create(NAMESPACES, managers.namespace("blue"))
        made["spec"]["finalizers"].append("example.com/mine")
        await client.update(NAMESPACES, made, subresource="finalize")
        await client.create(CONFIG_MAPS, {"metadata": {"name": "config", "namespace": "blue"}})
        await client.delete(NAMESPACES, "blue")

        async def finalizers() -> list[str]:
            return (await client.get(NAMESPACES, "blue"))["spec"]["finalizers"]

        async def only_mine() -> bool:
            return await finalizers() == ["example.com/mine"]

        await eventually(only_mine)
        assert await names(client, CONFIG_MAPS, "blue") == []
        try:
            await client.create(CONFIG_MAPS, {"metadata": {"name": "late", "namespace": "blue"}})
            raise AssertionError("nothing can be made in a namespace that is going")
        except AlreadyExists:
            raise
        except StatusError as error:
            assert error.code == 403
        live = await client.get(NAMESPACES, "blue")
        live["spec"]["finalizers"] = []
        await client.update(NAMESPACES, live, subresource="finalize")
        await eventually(lambda: gone(client, "blue"))


async def test_a_deletion_that_began_before_the_controller() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NAMESPACES, managers.namespace("blue"))
        await fill(client, "blue")
        await client.delete(NAMESPACES, "blue")
        async with controllers(client, namespace.CONTROLLER, **QUICK):
            await eventually(lambda: gone(client, "blue"))


async def test_a_namespace_is_kept_for_a_while() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        async with controllers(client, namespace.CONTROLLER, namespace_finalization_delay=0.5) as manager:
            await client.create(NAMESPACES, managers.namespace("blue"))
            await client.create(CONFIG_MAPS, {"metadata": {"name": "config", "namespace": "blue"}})
            before = manager.clock.monotonic()
            await client.delete(NAMESPACES, "blue")
            await eventually(lambda: gone(client, "blue"))
            assert manager.clock.monotonic() - before >= 0.5
