"""NodeAffinity: what the random tests cannot show."""

from __future__ import annotations

from pybernetes.api.resource import Object
from tests.scheduling.asking import refused, world
from tests.scheduling.builders import node, pod


def test_added_affinity_holds_for_every_pod() -> None:
    def wanted(key: str) -> Object:
        return {"matchExpressions": [{"key": key, "operator": "Exists"}]}

    added = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [wanted("pool")]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": wanted("fast")}],
    }
    config = {"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]}
    ours = world(
        node("a"),
        node("b", labels={"pool": "x"}),
        node("c", labels={"pool": "x", "fast": "y"}),
        config=config,
    )
    assert refused(ours, "NodeAffinity", pod("p")) == {
        "a": ("node(s) didn't match scheduler-enforced node affinity",)
    }
    assert ours.decide(pod("p")).node == "c"
