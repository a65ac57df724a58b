"""RemovePodsHavingTooManyRestarts: who was restarted too often."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from tests.control_plane.descheduler.worlds import gone, node, pod

NAME = "RemovePodsHavingTooManyRestarts"
NODES = [node("n1"), node("n2")]


def restarted(name: str, count: int, init: int = 0, waiting: str = "", **status: Any) -> Object:
    state = {"waiting": {"reason": waiting}} if waiting else {"running": {}}
    containers = [{"restartCount": count, "state": state}]
    return pod(
        name,
        status={"containerStatuses": containers, "initContainerStatuses": [{"restartCount": init}], **status},
    )


@pytest.mark.parametrize(
    ("there", "arguments", "goes"),
    [
        (restarted("p", 3), {"podRestartThreshold": 3}, True),
        (restarted("p", 2), {"podRestartThreshold": 3}, False),
        (restarted("p", 2, 1), {"podRestartThreshold": 3}, False),
        (restarted("p", 2, 1), {"podRestartThreshold": 3, "includingInitContainers": True}, True),
        (
            restarted("p", 3, waiting="CrashLoopBackOff"),
            {"podRestartThreshold": 3, "states": ["CrashLoopBackOff"]},
            True,
        ),
        (restarted("p", 3), {"podRestartThreshold": 3, "states": ["CrashLoopBackOff"]}, False),
        (restarted("p", 3), {"podRestartThreshold": 3, "states": ["Running"]}, True),
        (restarted("p", 3), {"podRestartThreshold": 3, "namespaces": {"exclude": ["default"]}}, False),
    ],
)
def test_pods(there: Object, arguments: Any, goes: bool) -> None:
    assert gone(NODES, [there], {NAME: arguments}) == (["p"] if goes else [])


def test_the_most_restarted_go_first() -> None:
    there = [restarted(f"p{count}", count) for count in (4, 9, 6)]
    rule = {NAME: {"podRestartThreshold": 3}}
    assert gone(NODES, there, rule, maxNoOfPodsToEvictPerNode=2) == ["p6", "p9"]
    assert gone(NODES, there, rule, maxNoOfPodsToEvictTotal=1) == ["p9"]
    assert gone(NODES[:1] + [node("n2", unschedulable=True)], there, rule, {"nodeFit": True}) == []
