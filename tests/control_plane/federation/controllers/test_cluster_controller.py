"""A member that has more objects than there is room for."""

from __future__ import annotations

import pytest

from pybernetes.client.refs import CONFIG_MAPS, EVENTS, NAMESPACES
from pybernetes.control_plane.federation.kinds import MANAGED, NAMESPACE
from pybernetes.control_plane.federation.members import member
from pybernetes.runtime import wary_informer
from tests.control_plane.federation.fleet import (
    FEDERATED_CONFIG_MAPS,
    FEDERATED_NAMESPACES,
    Fleet,
    federated,
)
from tests.support import eventually


async def test_a_member_with_too_many_objects_is_told_of_and_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(member, "BUDGET_BYTES", 100_000)
    monkeypatch.setattr(wary_informer, "_OVER_BUDGET_SECONDS", 0.3)
    async with Fleet("flood", "two") as fleet:
        host, flood = fleet.host.client, fleet.members["flood"].client
        await fleet.install("namespaces", "configmaps")
        await fleet.join()
        await flood.create(NAMESPACES, {"metadata": {"name": "demo"}})
        for number in range(60):
            meta = {
                "name": f"n{number}",
                "namespace": "demo",
                "labels": {MANAGED: "true"},
                "annotations": {"a": "x" * 4000},
            }
            await flood.create(CONFIG_MAPS, {"metadata": meta})
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        await fleet.start()
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", flood="", two="")
        made = federated(FEDERATED_CONFIG_MAPS, "a", "demo", {"data": {"k": "1"}})
        await host.create(FEDERATED_CONFIG_MAPS, made)
        await fleet.settles(
            FEDERATED_CONFIG_MAPS, "a", "demo", all_="False CheckClusters", flood="CachedRetrievalFailed", two=""
        )  # fmt: skip

        async def told() -> bool:
            events = (await host.list(EVENTS, NAMESPACE)).items
            matching = [event for event in events if event.get("reason") == "TooManyObjects"]
            return [(e["involvedObject"]["name"], "configmaps" in e["message"]) for e in matching] == [
                ("flood", True)
            ]

        await eventually(told)
        await flood.delete_collection(CONFIG_MAPS, "demo")
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", flood="", two="")
