"""How large old and new sets may be during a rollout."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.controllers.deployment import rolling
from pybernetes.control_plane.controllers.deployment.sets import Set
from tests.control_plane.controllers.deployment.deployments import deployment, replica_set


@pytest.mark.parametrize(
    ("replicas", "surge", "new", "old", "expected"),
    [
        (10, 0, 0, 10, 0),  # no room
        (10, 2, 0, 10, 2),
        (10, 2, 0, 5, 7),
        (10, 2, 9, 3, 9),
        (10, 20, 0, 0, 10),  # never more than asked for
        (3, 0, 5, 0, 3),  # fewer are asked for by now
    ],
)
def test_size_of_new(replicas: int, surge: int, new: int, old: int, expected: int) -> None:
    one, other = Set(replica_set("new", new)), Set(replica_set("old", old))
    assert rolling.size_of_new(deployment(replicas, surge, 1), one, [one, other]) == expected


@pytest.mark.parametrize(
    ("replicas", "unavailable", "old", "new", "expected"),
    [
        # old: size and available; new: the same
        (10, 0, (10, 10), (0, 0), 10),
        (10, 2, (10, 10), (0, 0), 8),
        (10, 2, (10, 8), (0, 0), 8),  # those that are not available go first
        (10, 2, (10, 10), (2, 0), 8),
        (10, 2, (8, 8), (5, 0), 8),  # new pods that never become available save the old ones
        (10, 2, (8, 8), (4, 2), 6),
        (10, 0, (10, 10), (4, 4), 6),
        (10, 3, (0, 0), (10, 10), 0),
    ],
)
def test_shrink_old(
    replicas: int, unavailable: int, old: tuple[int, int], new: tuple[int, int], expected: int
) -> None:
    one, other = Set(replica_set("new", *new)), Set(replica_set("old", *old))
    rolling.shrink_old(deployment(replicas, 5, unavailable), one, [other])
    assert other.replicas == expected


@pytest.mark.parametrize(
    ("replicas", "surge", "before", "expected"),
    [
        # before: the size of each set from the newest to the oldest, and the maximum noted on them
        (12, 0, ([10], 10), [12]),
        (5, 0, ([10], 10), [5]),
        (20, 0, ([5, 5], 10), [10, 10]),
        (5, 0, ([5, 5], 10), [3, 2]),
        (0, 0, ([5, 5], 10), [0, 0]),
        (0, 3, ([3, 7], 10), [0, 0]),
        (20, 0, ([2, 3, 5], 10), [4, 6, 10]),
        (15, 0, ([2, 3, 5], 10), [2, 5, 8]),  # rounded up for the largest first
        (8, 2, ([5, 8], 13), [4, 6]),
        (3, 0, ([0, 0, 0], 10), [3, 0, 0]),
        (10, 5, ([5, 3, 2], 10), [8, 5, 2]),
    ],
)
def test_scaling_is_proportional(
    replicas: int, surge: int, before: tuple[list[int], int], expected: list[int]
) -> None:
    given = [
        Set(replica_set(f"rs{number}", size, 0, ago=number * 100, desired=10, maximum=before[1]))
        for number, size in enumerate(before[0])
    ]
    new, *old = given
    rolling.scale(deployment(replicas, surge, 1), new, sorted(old, key=lambda name: name.age))
    assert [size.replicas for size in given] == expected


def test_scaling_with_a_saturated_new_set_ends_the_old_ones() -> None:
    new = Set(replica_set("new", 10, 10, desired=10, maximum=10))
    old = Set(replica_set("old", 3, 3))
    rolling.scale(deployment(10), new, [old])
    assert (new.replicas, old.replicas) == (10, 0)
