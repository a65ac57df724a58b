"""Federated objects in members, with API servers of a host and of members."""

from __future__ import annotations

import pytest

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CONFIG_MAPS, EVENTS, NAMESPACES
from pybernetes.control_plane.federation.kinds import DELETE_OPTION, FEDERATED_TYPE_CONFIGS, NAMESPACE
from tests.control_plane.federation.fleet import (
    FEDERATED_CONFIG_MAPS,
    FEDERATED_NAMESPACES,
    Fleet,
    federated,
)
from tests.support import eventually

pytestmark = pytest.mark.slow


async def test_template_placement_overrides_and_deletion() -> None:
    async with Fleet("one", "two") as fleet:
        await fleet.install("namespaces", "configmaps")
        await fleet.join()
        await fleet.start()
        host, one, two = fleet.host.client, fleet.members["one"].client, fleet.members["two"].client
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        made = federated(FEDERATED_CONFIG_MAPS, "settings", "demo", {"data": {"key": "value"}})
        await host.create(FEDERATED_CONFIG_MAPS, made)
        await fleet.settles(FEDERATED_CONFIG_MAPS, "settings", "demo", all_="False NamespaceNotFederated")

        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", one="", two="")
        await fleet.settles(FEDERATED_CONFIG_MAPS, "settings", "demo", one="", two="")
        for client in (one, two):
            assert (await client.get(CONFIG_MAPS, "settings", "demo"))["data"] == {"key": "value"}

        def change(obj: dict) -> None:
            obj["spec"]["template"]["data"]["key"] = "new"
            obj["spec"]["overrides"] = [
                {"clusterName": "two", "clusterOverrides": [{"path": "/data/key", "value": "other"}]}
            ]

        await host.modify(FEDERATED_CONFIG_MAPS, "settings", "demo", change)
        await fleet.settles(FEDERATED_CONFIG_MAPS, "settings", "demo", one="", two="")
        assert (await one.get(CONFIG_MAPS, "settings", "demo"))["data"] == {"key": "new"}
        assert (await two.get(CONFIG_MAPS, "settings", "demo"))["data"] == {"key": "other"}

        # Somebody changes it behind our back.
        await one.patch(CONFIG_MAPS, "settings", {"data": {"key": "mine", "more": "x"}}, "demo")

        async def corrected() -> bool:
            return (await one.get(CONFIG_MAPS, "settings", "demo"))["data"] == {"key": "new"}

        await eventually(corrected)

        # The namespace moves, and everything in it with it.
        def place(obj: dict) -> None:
            obj["spec"]["placement"] = {"clusters": [{"name": "one"}]}

        await host.modify(FEDERATED_NAMESPACES, "demo", "demo", place)
        await fleet.settles(FEDERATED_CONFIG_MAPS, "settings", "demo", one="")
        with pytest.raises(NotFound):
            await two.get(CONFIG_MAPS, "settings", "demo")

        await host.delete(FEDERATED_CONFIG_MAPS, "settings", "demo")

        async def gone() -> bool:
            try:
                await host.get(FEDERATED_CONFIG_MAPS, "settings", "demo")
                return False
            except NotFound:
                return True

        await eventually(gone)
        with pytest.raises(NotFound):
            await one.get(CONFIG_MAPS, "settings", "demo")


async def test_a_federation_of_one_namespace_reaches_no_further() -> None:
    async with Fleet("one", spec={"scope": "Namespaced"}) as fleet:
        await fleet.install("configmaps", "namespaces")
        await fleet.join()
        await fleet.start()
        host, one = fleet.host.client, fleet.members["one"].client
        for namespace in (NAMESPACE, "default"):
            made = federated(FEDERATED_CONFIG_MAPS, "settings", namespace, {"data": {"key": "value"}})
            await host.create(FEDERATED_CONFIG_MAPS, made)
        await fleet.settles(FEDERATED_CONFIG_MAPS, "settings", NAMESPACE, one="")
        assert (await one.get(CONFIG_MAPS, "settings", NAMESPACE))["data"] == {"key": "value"}
        assert "status" not in await host.get(FEDERATED_CONFIG_MAPS, "settings", "default")
        with pytest.raises(NotFound):
            await one.get(CONFIG_MAPS, "settings", "default")

        async def told() -> bool:
            page = await host.list(FEDERATED_TYPE_CONFIGS, NAMESPACE)
            states = {
                obj["metadata"]["name"]: (obj.get("status") or {}).get("propagationController")
                for obj in page.items
            }
            return states == {"configmaps": "Running", "namespaces": "NotRunning"}

        await eventually(told)


async def test_a_namespace_of_the_host_is_never_deleted() -> None:
    async with Fleet() as fleet:
        host = fleet.host.client
        await fleet.install("namespaces", "configmaps")
        await fleet.join("host")
        await fleet.start()
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", host="")

        async def is_managed() -> bool:
            labels = (await host.get(NAMESPACES, "demo"))["metadata"]["labels"]
            return "kubefed.io/managed" in labels

        assert await is_managed()
        await host.patch(FEDERATED_NAMESPACES, "demo", {"spec": {"placement": {"clusters": []}}}, "demo")
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo")
        assert not await is_managed()
        await host.patch(FEDERATED_NAMESPACES, "demo", {"spec": {"placement": {"clusters": None}}}, "demo")
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", host="")
        await host.delete(FEDERATED_NAMESPACES, "demo", "demo")

        async def gone() -> bool:
            return not (await host.list(FEDERATED_NAMESPACES, "demo")).items

        await eventually(gone)
        assert "deletionTimestamp" not in (await host.get(NAMESPACES, "demo"))["metadata"]
        assert not await is_managed()


async def test_a_namespace_of_the_host_can_be_deleted() -> None:
    async with Fleet("one") as fleet:
        host, one = fleet.host.client, fleet.members["one"].client
        await fleet.install("namespaces", "configmaps")
        await fleet.join("host", "one")
        await fleet.start()
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", host="", one="")
        # As `kubectl delete namespace` and the controller of namespaces do.
        await host.delete(NAMESPACES, "demo")
        await host.delete(FEDERATED_NAMESPACES, "demo", "demo")

        async def waits_for_the_member_only() -> bool:
            meta = (await one.get(NAMESPACES, "demo"))["metadata"]
            return "deletionTimestamp" in meta and not await is_managed_in_host()

        async def is_managed_in_host() -> bool:
            return "kubefed.io/managed" in (await host.get(NAMESPACES, "demo"))["metadata"]["labels"]

        await eventually(waits_for_the_member_only)
        await finalize(one, "demo")

        async def gone() -> bool:
            return not (await host.list(FEDERATED_NAMESPACES, "demo")).items

        await eventually(gone)


async def finalize(client: Client, name: str) -> None:
    """Let a namespace go, as a controller of the cluster would once it is empty."""
    obj = await client.get(NAMESPACES, name)
    await client.update(NAMESPACES, {**obj, "spec": {}}, subresource="finalize")


async def test_nothing_is_deleted_in_a_way_that_nobody_meant() -> None:
    async with Fleet("one") as fleet:
        await fleet.install("namespaces", "configmaps")
        await fleet.join()
        await fleet.start()
        host, one = fleet.host.client, fleet.members["one"].client
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        made = federated(FEDERATED_CONFIG_MAPS, "settings", "demo", {"data": {}})
        made["metadata"]["annotations"] = {DELETE_OPTION: '{"propagationPolicy":"Sometimes"}'}
        await host.create(FEDERATED_CONFIG_MAPS, made)
        await fleet.settles(FEDERATED_CONFIG_MAPS, "settings", "demo", one="")
        await host.delete(FEDERATED_CONFIG_MAPS, "settings", "demo")

        async def told() -> bool:
            return any(
                event["reason"] == "InvalidDeleteOption" for event in (await host.list(EVENTS, "demo")).items
            )

        await eventually(told)
        assert await one.get(CONFIG_MAPS, "settings", "demo")
        meant = {"metadata": {"annotations": {DELETE_OPTION: '{"propagationPolicy":"Background"}'}}}
        await host.patch(FEDERATED_CONFIG_MAPS, "settings", meant, "demo")

        async def gone() -> bool:
            return not (await host.list(FEDERATED_CONFIG_MAPS, "demo")).items

        await eventually(gone)
        with pytest.raises(NotFound):
            await one.get(CONFIG_MAPS, "settings", "demo")
