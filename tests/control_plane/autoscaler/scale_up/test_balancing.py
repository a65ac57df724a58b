"""Which groups are alike, and how new nodes are shared among them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.autoscaler.scale_up.balancing import Ratios, ScaleUp, balance, similar
from tests.control_plane.autoscaler.fakes import template


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        ([("a", 1, 9), ("b", 1, 9)], 4, {"a": 3, "b": 3}),
        ([("a", 5, 9), ("b", 1, 9)], 3, {"b": 4}),
        ([("a", 1, 2), ("b", 1, 9)], 4, {"a": 2, "b": 4}),
        ([("a", 1, 2), ("b", 1, 2)], 9, {"a": 2, "b": 2}),
        ([("a", 2, 2)], 1, {}),
    ],
)
def test_balance(sizes: list[tuple[str, int, int]], count: int, expected: dict[str, int]) -> None:
    groups = [ScaleUp(name, current, current, maximum) for name, current, maximum in sizes]
    assert {group.group: group.new for group in balance(groups, count)} == expected


@pytest.mark.parametrize(
    ("other", "only", "expected"),
    [
        ({}, (), True),
        ({"labels": {"topology.kubernetes.io/zone": "b"}}, (), True),
        ({"labels": {"disk": "ssd"}}, (), False),
        ({"cpu": "4"}, (), False),
        ({"memory": "4100Mi"}, (), True),
        ({"memory": "5Gi"}, (), False),
        # Machines have as many cores and take as many pods as the others, and almost as much memory.
        ({"memory": "4155Mi"}, (), True),
        ({"memory": "4170Mi"}, (), False),
        ({"cpu": "2050m"}, (), False),
        ({"pods": "109"}, (), False),
        # What is left for pods may differ by a twentieth, of the larger.
        ({"left": {"cpu": "1900m"}}, (), True),
        ({"left": {"cpu": "1899m"}}, (), False),
        ({"left": {"pods": "105"}}, (), True),
        ({"left": {"pods": "104"}}, (), False),
        ({"left": {"example.com/card": "1"}}, (), False),
        ({"daemons": ("100m",)}, (), True),
        ({"daemons": ("101m",)}, (), False),
        (
            {"labels": {"beta.kubernetes.io/fluentd-ds-ready": "true", "kops.k8s.io/instancegroup": "x"}},
            (),
            True,
        ),
        ({"cpu": "64", "labels": {"disk": "hdd"}}, ("disk",), False),
    ],
)
def test_similar_groups(other: dict[str, Any], only: tuple[str, ...], expected: bool) -> None:
    assert similar(template("a"), template("b", **other), Ratios(), (), only) is expected
