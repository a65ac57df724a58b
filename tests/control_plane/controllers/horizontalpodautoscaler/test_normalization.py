"""How fast replicas may change; the cases are those of upstream's controller."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.controllers.horizontalpodautoscaler.normalization import (
    History,
    Moment,
    by_rules,
    normalize,
)

NOW = 1000.0


@pytest.mark.parametrize(
    ("current", "desired", "least", "most", "replicas", "reason"),
    [
        (4, 2, 3, 10, 3, "TooFewReplicas"),
        (0, 1, 0, 10, 1, "DesiredWithinRange"),
        (4, 20, 1, 6, 6, "TooManyReplicas"),
        (4, 20, 1, 100, 8, "ScaleUpLimit"),
        (1, 20, 1, 100, 4, "ScaleUpLimit"),
        (4, 5, 1, 10, 5, "DesiredWithinRange"),
    ],
)
def test_rules(current: int, desired: int, least: int, most: int, replicas: int, reason: str) -> None:
    allowed, why = by_rules(current, desired, least, most)
    assert (allowed, why.reason) == (replicas, reason)


def rules(*policies: tuple[str, int, int], select: str = "Max", window: int | None = 0) -> dict[str, Any]:
    made: dict[str, Any] = {
        "selectPolicy": select,
        "policies": [
            {"type": kind, "value": value, "periodSeconds": seconds} for kind, value, seconds in policies
        ],
    }
    return made if window is None else made | {"stabilizationWindowSeconds": window}


UP, DOWN = rules(("Pods", 4, 60), ("Percent", 100, 60)), rules(("Percent", 100, 60))


@pytest.mark.parametrize(
    ("current", "desired", "up", "down", "history", "replicas", "reason"),
    [
        (3, 10, UP, DOWN, {}, 7, "ScaleUpLimit"),  # 4 pods are more than 100%
        (10, 50, UP, DOWN, {}, 20, "ScaleUpLimit"),
        (10, 50, rules(("Pods", 4, 60), ("Percent", 100, 60), select="Min"), DOWN, {}, 14, "ScaleUpLimit"),
        (10, 50, rules(("Pods", 4, 60), select="Disabled"), DOWN, {}, 10, "ScaleUpLimit"),
        (10, 500, rules(("Percent", 10000, 60)), DOWN, {}, 100, "TooManyReplicas"),
        (7, 50, UP, DOWN, {"ups": [Moment(4, NOW - 30)]}, 7, "ScaleUpLimit"),  # 4 were added in this minute
        (7, 50, UP, DOWN, {"ups": [Moment(4, NOW - 61)]}, 14, "ScaleUpLimit"),
        (7, 50, UP, DOWN, {"downs": [Moment(3, NOW - 30)]}, 20, "ScaleUpLimit"),
        (10, 2, UP, DOWN, {}, 2, "DesiredWithinRange"),
        (10, 0, UP, DOWN, {}, 1, "TooFewReplicas"),
        (10, 1, UP, rules(("Pods", 3, 60)), {}, 7, "ScaleDownLimit"),
        (10, 1, UP, rules(("Pods", 3, 60), ("Percent", 50, 60)), {}, 5, "ScaleDownLimit"),
        (10, 1, UP, rules(("Pods", 3, 60), ("Percent", 50, 60), select="Min"), {}, 7, "ScaleDownLimit"),
        (10, 1, UP, rules(("Pods", 3, 60), select="Disabled"), {}, 10, "ScaleDownLimit"),
        (10, 1, UP, rules(("Pods", 3, 60)), {"downs": [Moment(2, NOW - 10)]}, 9, "ScaleDownLimit"),
        (10, 10, UP, DOWN, {}, 10, "DesiredWithinRange"),
    ],
)
def test_behavior(
    current: int, desired: int, up: Any, down: Any, history: dict[str, Any], replicas: int, reason: str
) -> None:
    result = normalize(
        History(**history), current, desired, 1, 100, {"scaleUp": up, "scaleDown": down}, 300, NOW
    )
    assert (result.replicas, result.limit.reason) == (replicas, reason)
    assert result.limited is (reason != "DesiredWithinRange")


@pytest.mark.parametrize(
    ("current", "desired", "up_window", "down_window", "old", "replicas", "able"),
    [
        (5, 2, 0, 300, [Moment(4, NOW - 100)], 4, "ScaleDownStabilized"),
        (5, 2, 0, 300, [Moment(4, NOW - 301)], 2, "ReadyForNewScale"),
        (5, 2, 0, None, [Moment(4, NOW - 299)], 4, "ScaleDownStabilized"),
        (5, 8, 60, 300, [Moment(6, NOW - 30)], 6, "ScaleUpStabilized"),
        (5, 8, 60, 300, [Moment(6, NOW - 61)], 8, "ReadyForNewScale"),
        (5, 8, 60, 300, [Moment(2, NOW - 30)], 5, "ScaleUpStabilized"),
    ],
)
def test_windows(
    current: int,
    desired: int,
    up_window: int,
    down_window: int | None,
    old: list[Moment],
    replicas: int,
    able: str,
) -> None:
    behavior = {
        "scaleUp": rules(("Pods", 100, 60), window=up_window),
        "scaleDown": rules(("Percent", 100, 60), window=down_window),
    }
    result = normalize(History(list(old)), current, desired, 1, 100, behavior, 300, NOW)
    assert (result.replicas, result.able.reason) == (replicas, able)


def test_without_a_behavior_the_highest_of_five_minutes_counts() -> None:
    history = History()
    history.begin(8, NOW)
    assert normalize(history, 8, 3, 1, 10, None, 300, NOW + 100).able.reason == "ScaleDownStabilized"
    result = normalize(history, 8, 3, 1, 10, None, 300, NOW + 299)
    assert result.replicas == 8
    result = normalize(history, 8, 2, 1, 10, None, 300, NOW + 301)
    assert result.replicas == 3 and result.able.reason == "ScaleDownStabilized"
    assert len(history.recommendations) == 3  # what is too old is forgotten


def test_changes_are_remembered_as_long_as_a_policy_looks_back() -> None:
    history, behavior = History(), {"scaleUp": UP, "scaleDown": DOWN}
    history.scaled(None, 1, 5, NOW)
    assert not history.ups
    history.scaled(behavior, 1, 5, NOW)
    history.scaled(behavior, 5, 6, NOW + 30)
    history.scaled(behavior, 6, 2, NOW + 31)
    assert history.ups == [Moment(4, NOW), Moment(1, NOW + 30)] and history.downs == [Moment(4, NOW + 31)]
    history.scaled(behavior, 2, 3, NOW + 80)
    assert history.ups == [Moment(1, NOW + 80), Moment(1, NOW + 30)]


def test_a_change_that_is_too_old_for_one_direction_counts_for_the_other() -> None:
    behavior = {"scaleUp": rules(("Pods", 1, 120)), "scaleDown": rules(("Pods", 5, 15))}
    history = History()
    for before, after, moment in ((10, 8, NOW), (8, 7, NOW + 5), (7, 6, NOW + 25)):
        history.scaled(behavior, before, after, moment)
    # One of the two older ones was replaced; of the other the policy of the way up still knows.
    assert history.downs == [Moment(2, NOW), Moment(1, NOW + 25)]
    assert normalize(history, 6, 20, 1, 100, behavior, 300, NOW + 30).replicas == 10


def test_a_window_that_is_made_longer_knows_what_was_before() -> None:
    history = History([Moment(9, NOW - 400), Moment(8, NOW - 350), Moment(4, NOW - 100)])
    assert normalize(history, 9, 3, 1, 10, None, 300, NOW).replicas == 4
    assert normalize(history, 9, 3, 1, 10, None, 600, NOW + 1).replicas == 9
