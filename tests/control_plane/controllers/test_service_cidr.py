"""Ranges of service addresses stay as long as they are needed."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import SERVICE_CIDRS, SERVICES
from pybernetes.control_plane.controllers import service_cidr
from pybernetes.control_plane.controllers.service_cidr import can_go, overlapping
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually


def ranges(name: str, *cidrs: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"cidrs": list(cidrs)}}


@pytest.mark.parametrize(
    ("own", "others", "addresses", "expected"),
    [
        (ranges("a", "10.0.0.0/24"), [], [], True),
        (ranges("a", "10.0.0.0/24"), [], ["10.0.0.7"], False),
        (ranges("a", "10.0.0.0/24"), [], ["10.0.1.7", "fd00::1"], True),
        (ranges("a", "10.0.0.0/24"), [ranges("b", "10.0.0.0/16")], ["10.0.0.7"], True),
        (ranges("a", "10.0.0.0/24"), [ranges("b", "10.0.0.0/28")], ["10.0.0.7"], True),
        (ranges("a", "10.0.0.0/24"), [ranges("b", "10.0.0.0/28")], ["10.0.0.77"], False),
        (ranges("a", "10.0.0.0/24", "fd00::/112"), [ranges("b", "10.0.0.0/16")], ["fd00::1"], False),
    ],
)
def test_can_go(own: Object, others: list[Object], addresses: list[str], expected: bool) -> None:
    assert can_go(own, [own, *others], addresses) is expected


def test_overlapping() -> None:
    others = [
        ranges("b", "10.0.0.0/16"),
        ranges("c", "10.1.0.0/24"),
        ranges("d", "10.0.0.0/28"),
        ranges("e", "fd00::/8"),
    ]
    assert overlapping(ranges("a", "10.0.0.0/24"), others) == ["b", "d"]


async def ready(client: Client, name: str) -> str:
    obj = await get_or_none(client.get(SERVICE_CIDRS, name))
    if obj is None:
        return "gone"
    conditions = (obj.get("status") or {}).get("conditions") or [{}]
    return conditions[0].get("status", "")


async def test_a_range_in_use_stays() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        async with controllers(client, service_cidr.CONTROLLER, clock=clock):

            async def becomes(expected: str) -> None:
                async def so() -> bool:
                    return await ready(client, "extra") == expected

                await eventually(so)

            await client.create(SERVICE_CIDRS, ranges("extra", "192.168.7.0/28"))
            await becomes("True")
            web = {"ports": [{"port": 80}], "clusterIP": "192.168.7.3"}

            async def made() -> Any:
                try:
                    meta = {"name": "web", "namespace": "default"}
                    return await client.create(SERVICES, {"metadata": meta, "spec": web})
                except Exception:
                    return None

            await eventually(made)
            await client.delete(SERVICE_CIDRS, "extra")
            await becomes("False")
            await client.delete(SERVICES, "web", "default")

            async def over() -> bool:
                await clock.advance(5)
                return await ready(client, "extra") == "gone"

            await eventually(over)
