"""Budgets count as the eviction API counts, and as preemption does."""

from __future__ import annotations

import pytest

from pybernetes.api.policy.poddisruptionbudget import SEVERAL_BUDGETS, VIOLATION
from pybernetes.api.resource import Object
from pybernetes.scheduling.disruption_budgets import Budgets, EvictionBudgets, split_by_budget
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.resource_requests import Resources
from tests.scheduling.builders import budget, pod

READER = PodReader(Resources())
ALWAYS = {"unhealthyPodEvictionPolicy": "AlwaysAllow"}


def read(name: str, labels: dict[str, str] | None = None) -> Pod:
    return READER.read(pod(name, labels=labels))


@pytest.mark.parametrize(
    ("budgets", "guarded", "ready", "expected"),
    [
        ([], True, True, ["", "", ""]),
        ([budget(1)], True, True, ["", VIOLATION, VIOLATION]),
        ([budget(2, namespace="other")], True, True, ["", "", ""]),
        ([budget(0, spec={"selector": {"matchLabels": {"app": "b"}}})], True, True, ["", "", ""]),
        ([budget(0, spec={"selector": {}})], True, True, [VIOLATION] * 3),
        ([budget(0, spec={"selector": None})], True, True, ["", "", ""]),
        ([budget(0), budget(5, "c")], True, True, [SEVERAL_BUDGETS] * 3),
        ([budget(0)], False, False, ["", "", ""]),
        ([budget(0), budget(5, "c")], False, True, ["", "", ""]),
        ([budget(0)], True, False, [VIOLATION] * 3),
        ([budget(0, currentHealthy=2, desiredHealthy=2)], True, False, ["", "", ""]),
        ([budget(0, currentHealthy=1, desiredHealthy=2)], True, False, [VIOLATION] * 3),
        ([budget(0, spec=ALWAYS)], True, False, ["", "", ""]),
        ([budget(0, spec=ALWAYS)], True, True, [VIOLATION] * 3),
    ],
)
def test_evictions(budgets: list[Object], guarded: bool, ready: bool, expected: list[str]) -> None:
    counting = EvictionBudgets(budgets)
    pods = [read(f"p{number}", {"app": "a"}) for number in range(3)]
    refusals = [counting.evict(pod, guarded=guarded, ready=ready) for pod in pods]
    assert [refusal.message if refusal else "" for refusal in refusals] == expected


def test_a_budget_is_used_up_and_comes_back() -> None:
    counting = EvictionBudgets([budget(1, desiredHealthy=2, currentHealthy=3)])
    first, second = read("p", {"app": "a"}), read("q", {"app": "a"})
    assert counting.evict(first, guarded=True, ready=True) is None
    refusal = counting.evict(second, guarded=True, ready=True)
    assert refusal == (VIOLATION, "The disruption budget b needs 2 healthy pods and has 2 currently")
    counting.replaced(first)
    assert counting.evict(second, guarded=True, ready=True) is None


@pytest.mark.parametrize(
    ("budgets", "labels", "violating"),
    [
        ([budget(1)], {"app": "a"}, ["p1", "p2"]),
        ([budget(1, disruptedPods={"p1": "2026-01-01T00:00:00Z"})], {"app": "a"}, ["p2"]),
        ([budget(2), budget(1, "c")], {"app": "a"}, ["p1", "p2"]),
        ([budget(0, spec={"selector": {}})], {"app": "a"}, []),
        ([budget(0, spec={"selector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}})], None, []),
    ],
)  # fmt: skip
def test_preemption(budgets: list[Object], labels: dict[str, str] | None, violating: list[str]) -> None:
    pods = [read(f"p{number}", labels) for number in range(3)]
    split = split_by_budget(pods, Budgets(budgets))
    assert [pod.name for pod in split[0]] == violating
    assert [pod.name for pod in split[1]] == [pod.name for pod in pods if pod.name not in violating]
