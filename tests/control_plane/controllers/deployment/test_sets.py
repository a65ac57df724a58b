"""The ReplicaSets of a Deployment."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.controllers.deployment import sets
from tests.control_plane.controllers.deployment.deployments import deployment, planned


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        (10, "25%", "25%", (3, 2)),
        (2, 0, "1%", (0, 1)),
        (1, "1%", "25%", (1, 0)),
        (10, 0, 0, (0, 1)),
        (10, 3, 2, (3, 2)),
    ],
)
def test_fenceposts(replicas: int, surge: Any, unavailable: Any, expected: tuple[int, int]) -> None:
    assert sets.fenceposts(deployment(replicas, surge, unavailable)) == expected


def test_the_hash_is_the_templates_and_changes_with_collisions() -> None:
    names = set()
    for collisions in (None, 1, 2):
        given = deployment(status={"collisionCount": collisions} if collisions else {})
        created = planned(given).create
        assert created == planned(given).create
        names.add(created["metadata"]["name"])  # type: ignore[index]
    assert len(names) == 3
