"""How long pods stay on tainted nodes."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.controllers import taint_eviction
from pybernetes.control_plane.controllers.taint_eviction import tolerated_seconds
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.control_plane.controllers.node_lifecycle.nodes import run_pod
from tests.support import eventually

TAINT = {"key": "k", "value": "v", "effect": "NoExecute"}
OTHER = {"key": "other", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("taints", "tolerations", "seconds"),
    [
        ([], [], float("inf")),
        ([TAINT], [], 0),
        ([TAINT], [{"operator": "Exists"}], float("inf")),
        ([TAINT], [{"key": "k", "value": "v", "tolerationSeconds": 30}], 30),
        ([TAINT], [{"key": "k", "value": "w"}], 0),
        ([TAINT], [{"key": "k", "value": "v", "tolerationSeconds": -1}], 0),
        ([TAINT, OTHER], [{"key": "k", "operator": "Exists", "tolerationSeconds": 30}], 0),
        ([TAINT, OTHER], [{"key": "k", "operator": "Exists", "tolerationSeconds": 30}, {"operator": "Exists"}], 30),
        ([TAINT, OTHER], [{"key": "k", "operator": "Exists", "tolerationSeconds": 30},
                          {"key": "other", "operator": "Exists", "tolerationSeconds": 5}], 5),
    ],
)  # fmt: skip
def test_how_long_taints_are_tolerated(
    taints: list[Object], tolerations: list[Object], seconds: float
) -> None:
    assert tolerated_seconds(taints, tolerations) == seconds


async def test_taints_by_hand() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        await client.create(NODES, {"metadata": {"name": "node"}})
        mine = {"key": "mine", "value": "yes", "effect": "NoExecute"}
        patient = {"key": "mine", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}
        await run_pod(client, "patient", "node", patient)
        await run_pod(client, "other", "node")
        async with controllers(client, taint_eviction.CONTROLLER, clock=clock) as manager:
            await client.patch(NODES, "node", {"spec": {"taints": [mine]}})

            async def going(name: str) -> Any:
                obj = await get_or_none(client.get(PODS, name, "default"))
                return obj is None or "deletionTimestamp" in obj["metadata"]

            await eventually(lambda: going("other"))
            assert not await going("patient")
            # Without the taint in time, it stays.
            await client.patch(NODES, "node", {"spec": {"taints": None}})
            eviction: Any = manager.controllers["taint-eviction-controller"]
            await eventually(lambda: not eviction._since)
            await clock.advance(60)
            assert not await going("patient")
            await client.patch(NODES, "node", {"spec": {"taints": [mine]}})
            await eventually(lambda: eviction._since)
            await clock.advance(21)
            await eventually(lambda: going("patient"))
