"""The order in which pods go."""

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.ranking import by_activity, by_deletion
from tests.control_plane.controllers.builders import NOW, pod

COST = "controller.kubernetes.io/pod-deletion-cost"

# Pairs: the first goes before the second.
CASES: dict[str, tuple[Object, Object]] = {
    "not assigned": (pod("a", node="", phase="Pending"), pod("b", phase="Pending")),
    "pending": (pod("a", phase="Pending"), pod("b", phase="Running")),
    "unknown before running": (pod("a", phase="Unknown"), pod("b", phase="Running")),
    "not ready": (pod("a"), pod("b", ready=True)),
    "cheap": (pod("a", ready=True, annotations={COST: "-5"}), pod("b", ready=True)),
    "ready for a shorter time": (pod("a", ready=2), pod("b", ready=2000)),
    "restarted more": (pod("a", ready=True, restarts=3), pod("b", ready=True, restarts=1)),
    "younger": (pod("a", ready=True, ago=1), pod("b", ready=True, ago=5000)),
    "of the same magnitude by uid": (pod("a", ready=1000), pod("b", ready=1010)),
}


@pytest.mark.parametrize("name", CASES)
def test_deletion_order(name: str) -> None:
    first, second = CASES[name]
    assert by_deletion([second, first], [], NOW) == [first, second]
    assert by_deletion([first, second], [], NOW) == [first, second]


def test_crowded_nodes_first() -> None:
    lonely, crowded = pod("a", ready=2, node="n1"), pod("b", ready=2000, node="n2")
    neighbours = [pod(f"x{n}", node="n2") for n in range(3)]
    assert by_deletion([lonely, crowded], [lonely, crowded, *neighbours], NOW) == [crowded, lonely]


def test_a_cost_that_is_no_number_is_none() -> None:
    odd, cheap = pod("a", annotations={COST: "much"}), pod("b", annotations={COST: "-1"})
    assert by_deletion([odd, cheap], [], NOW) == [cheap, odd]


def test_sidecars_count_after_containers() -> None:
    spec = {"initContainers": [{"name": "side", "restartPolicy": "Always"}]}
    status: Any = {"initContainerStatuses": [{"name": "side", "restartCount": 9}]}
    calm = pod("a", ready=True)
    busy = pod("b", ready=True, spec=spec, **status)
    assert by_deletion([calm, busy], [], NOW) == [busy, calm]


def test_activity_takes_the_exact_age() -> None:
    younger, older = pod("b", ready=1000), pod("a", ready=1010)
    assert by_activity([older, younger]) == [younger, older]
