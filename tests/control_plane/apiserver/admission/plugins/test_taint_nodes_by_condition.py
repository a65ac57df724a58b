"""TaintNodesByCondition: what it sets, and what it refuses."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.world import World
from tests.support import run


def test_new_nodes_are_not_ready() -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}

    async def test() -> None:
        async with World() as world:
            chain = world.chain("TaintNodesByCondition")
            made = await world.admit(chain, "nodes", {"metadata": {"name": "n"}})
            assert made["spec"]["taints"] == [taint]
            assert await world.admit(chain, "nodes", made) == made
            old = {"metadata": {"name": "n"}}
            assert await world.admit(chain, "nodes", old, old) == old

    run(test())
