"""The plugins of a profile, and how many nodes they look at."""

from __future__ import annotations

from tests.scheduling.asking import world
from tests.scheduling.builders import node, pod


def test_a_share_of_the_nodes_is_enough_if_the_configuration_says_so() -> None:
    ours = world(*(node(f"n{number}") for number in range(300)), config={"percentageOfNodesToScore": 40})
    chosen = set()
    for number in range(3):
        decision = ours.decide(pod("p"))
        assert decision.feasible == 120, number
        chosen.add(decision.node)
    assert len(chosen) > 1
