"""drain: budgets are asked as the eviction API would ask them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.policy.poddisruptionbudget import SEVERAL_BUDGETS, VIOLATION
from pybernetes.api.resource import Object
from pybernetes.scheduling.disruption_budgets import EvictionBudgets
from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.questions.drain import refusal
from tests.scheduling.builders import node
from tests.tools.what_if.clusters import budget, cluster, running


def budgets_of(world: Cluster) -> EvictionBudgets:
    return EvictionBudgets(world.listers.all("poddisruptionbudgets"))


def unready(obj: Object) -> Object:
    obj["status"]["conditions"] = []
    return obj


@pytest.mark.parametrize(
    ("pod", "budgets", "said"),
    [
        (running("p", "n"), [], ""),
        (running("p", "n"), [budget("b", 1)], ""),
        (running("p", "n"), [budget("b", 0)], VIOLATION),
        (running("p", "n", labels={"app": "other"}), [budget("b", 0)], ""),
        (running("p", "n"), [budget("a", 1), budget("b", 1)], SEVERAL_BUDGETS),
        (unready(running("p", "n")), [budget("b", 0)], ""),
        (
            unready(running("p", "n")),
            [{**budget("b", 0), "status": {"desiredHealthy": 2, "currentHealthy": 1}}],
            VIOLATION,
        ),
        (unready(running("p", "n")), [budget("b", 0, unhealthyPodEvictionPolicy="AlwaysAllow")], ""),
        ({**running("p", "n"), "status": {"phase": "Pending"}}, [budget("b", 0)], ""),
    ],
)
def test_who_may_go(pod: Object, budgets: list[Any], said: str) -> None:
    world = cluster([node("n")], [pod], poddisruptionbudgets=budgets)
    (read,) = world.pods_on("n")
    answer = refusal(budgets_of(world), world, read)
    assert answer.startswith(said) and bool(answer) == bool(said)


def test_a_budget_is_used_up_and_comes_back() -> None:
    world = cluster(
        [node("n")], [running("p", "n"), running("q", "n")], poddisruptionbudgets=[budget("b", 1)]
    )
    first, second = world.pods_on("n")
    budgets = budgets_of(world)
    assert refusal(budgets, world, first) == ""
    assert "The disruption budget b needs 2 healthy pods" in refusal(budgets, world, second)
    budgets.replaced(first)
    assert refusal(budgets, world, second) == ""
