"""Evictions: a dry run asks budgets what the API server would say."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.policy.poddisruptionbudget import SEVERAL_BUDGETS, VIOLATION
from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.evictor import refusal
from pybernetes.scheduling.disruption_budgets import EvictionBudgets
from tests.control_plane.descheduler.worlds import cluster, pod
from tests.scheduling.builders import budget

READY = {"conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    ("budgets", "status", "expected"),
    [
        ([], READY, ["", "", ""]),
        ([budget(1)], READY, ["", VIOLATION, VIOLATION]),
        ([budget(2, namespace="other")], READY, ["", "", ""]),
        ([budget(0), budget(5, "c")], READY, [SEVERAL_BUDGETS] * 3),
        ([budget(0)], {"phase": "Pending"}, ["", "", ""]),
        ([budget(0)], {"phase": "Failed"}, ["", "", ""]),
        ([budget(0)], {}, [VIOLATION] * 3),
        ([budget(0, currentHealthy=2, desiredHealthy=2)], {}, ["", "", ""]),
        ([budget(0, currentHealthy=1, desiredHealthy=2)], {}, [VIOLATION] * 3),
        ([budget(0, spec={"unhealthyPodEvictionPolicy": "AlwaysAllow"})], {}, ["", "", ""]),
        ([budget(0, spec={"unhealthyPodEvictionPolicy": "AlwaysAllow"})], READY, [VIOLATION] * 3),
    ],
)
def test_a_dry_run_asks_budgets(budgets: list[Object], status: Any, expected: list[str]) -> None:
    state = cluster([], [pod(f"p{number}", labels={"app": "a"}, status=status) for number in range(3)])
    counting = EvictionBudgets(budgets)
    assert [refusal(counting, record) for record in state.records.values()] == expected
