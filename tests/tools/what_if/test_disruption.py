"""Budgets count as the eviction API counts."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.tools.what_if.disruption import SEVERAL, Budgets
from tests.scheduling.builders import node
from tests.tools.what_if.clusters import budget, cluster, running

VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."


def unready(obj: Object) -> Object:
    obj["status"]["conditions"] = []
    return obj


@pytest.mark.parametrize(
    ("pod", "budgets", "refusal"),
    [
        (running("p", "n"), [], ""),
        (running("p", "n"), [budget("b", 1)], ""),
        (running("p", "n"), [budget("b", 0)], VIOLATES),
        (running("p", "n", labels={"app": "other"}), [budget("b", 0)], ""),
        (running("p", "n"), [budget("a", 1), budget("b", 1)], SEVERAL),
        (unready(running("p", "n")), [budget("b", 0)], ""),
        (
            unready(running("p", "n")),
            [{**budget("b", 0), "status": {"desiredHealthy": 2, "currentHealthy": 1}}],
            VIOLATES,
        ),
        (unready(running("p", "n")), [budget("b", 0, unhealthyPodEvictionPolicy="AlwaysAllow")], ""),
        ({**running("p", "n"), "status": {"phase": "Pending"}}, [budget("b", 0)], ""),
    ],
)
def test_who_may_go(pod: Object, budgets: list[Any], refusal: str) -> None:
    world = cluster([node("n")], [pod], poddisruptionbudgets=budgets)
    (read,) = world.pods_on("n")
    found = Budgets(world).refusal(read)
    assert found.startswith(refusal) and bool(found) == bool(refusal)


def test_a_budget_is_used_up_and_comes_back() -> None:
    world = cluster(
        [node("n")], [running("p", "n"), running("q", "n")], poddisruptionbudgets=[budget("b", 1)]
    )
    first, second = world.pods_on("n")
    budgets = Budgets(world)
    assert budgets.refusal(first) == ""
    assert "The disruption budget b needs 2 healthy pods" in budgets.refusal(second)
    budgets.replaced(first)
    assert budgets.refusal(second) == ""
