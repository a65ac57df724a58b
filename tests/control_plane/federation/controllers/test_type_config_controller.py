"""Kinds begin and end to be federated; what is in members stays."""

from __future__ import annotations

from pybernetes.client.refs import CONFIG_MAPS, NAMESPACES
from pybernetes.control_plane.federation.kinds import FEDERATED_TYPE_CONFIGS, NAMESPACE
from tests.control_plane.federation.fleet import (
    FEDERATED_CONFIG_MAPS,
    FEDERATED_NAMESPACES,
    Fleet,
    federated,
)
from tests.support import eventually


async def test_without_federated_namespaces_nothing_in_namespaces_is_touched() -> None:
    async with Fleet("one") as fleet:
        host, one = fleet.host.client, fleet.members["one"].client
        await fleet.install("namespaces", "configmaps")
        await fleet.join()
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        await host.create(
            FEDERATED_CONFIG_MAPS, federated(FEDERATED_CONFIG_MAPS, "a", "demo", {"data": {"k": "1"}})
        )
        await fleet.start()
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="")
        before = (await one.get(CONFIG_MAPS, "a", "demo"))["metadata"]

        async def running(name: str) -> str:
            config = await host.get(FEDERATED_TYPE_CONFIGS, name, NAMESPACE)
            return str((config.get("status") or {}).get("propagationController"))

        async def stopped() -> bool:
            return await running("configmaps") == "NotRunning"

        async def started() -> bool:
            return await running("configmaps") == "Running"

        # A new leader that sees the kinds one after the other, in any order, deletes nothing meanwhile.
        await fleet.stop()
        await host.patch(
            FEDERATED_TYPE_CONFIGS, "namespaces", {"spec": {"propagation": "Disabled"}}, NAMESPACE
        )
        await fleet.start()
        await eventually(stopped)
        assert (await one.get(CONFIG_MAPS, "a", "demo"))["metadata"]["uid"] == before["uid"]
        await host.patch(
            FEDERATED_TYPE_CONFIGS, "namespaces", {"spec": {"propagation": "Enabled"}}, NAMESPACE
        )
        await eventually(started)
        await host.patch(FEDERATED_CONFIG_MAPS, "a", {"spec": {"template": {"data": {"k": "2"}}}}, "demo")
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="")

        # Nor does it when namespaces are no longer federated.
        await fleet.kubefedctl("disable", "namespaces")
        await eventually(stopped)
        now = await one.get(CONFIG_MAPS, "a", "demo")
        assert now["metadata"]["uid"] == before["uid"] and now["data"] == {"k": "2"}
