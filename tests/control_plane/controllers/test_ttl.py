"""How long kubelets may cache, by the number of nodes."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.controllers import ttl


@pytest.mark.parametrize(
    ("nodes", "current", "expected"),
    [
        (0, 0, 0),
        (100, 0, 0),
        (101, 0, 1),
        (95, 1, 1),
        (89, 1, 0),
        (501, 1, 2),
        (3000, 0, 4),
        (10, 4, 0),
        (1801, 4, 4),
    ],
)
def test_ttl_steps(nodes: int, current: int, expected: int) -> None:
    assert ttl.step(nodes, current) == expected
