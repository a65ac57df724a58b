"""PodTopologyLabels: what it sets, and what it refuses."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.world import World, pod
from tests.support import run


def test_pods_get_the_topology_of_their_node() -> None:
    zone = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"}

    async def test() -> None:
        async with World() as world:
            await world.add("", "nodes", {"metadata": {"name": "n", "labels": {**zone, "x": "y"}}})
            chain = world.chain("PodTopologyLabels")
            made = await world.admit(chain, "pods", pod(nodeName="n", metadata={"labels": {"a": "b"}}))
            assert made["metadata"]["labels"] == {"a": "b", **zone}
            assert "labels" not in (await world.admit(chain, "pods", pod(nodeName="gone")))["metadata"]
            binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
            bound = await world.admit(chain, "pods", binding, subresource="binding")
            assert bound["metadata"]["labels"] == zone
            binding["target"] = {"kind": "Other", "name": "n"}
            assert (
                "labels" not in (await world.admit(chain, "pods", binding, subresource="binding"))["metadata"]
            )

    run(test())
