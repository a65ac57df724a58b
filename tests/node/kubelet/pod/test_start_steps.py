"""Steps of pods that start: without gaps, told once, and forgotten when the pod runs."""

import pytest

from pybernetes.api import steps
from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.pod.start_steps import (
    CREATE,
    IMAGE,
    NETWORK,
    PREPARE,
    SANDBOX,
    START,
    WAIT,
    StartSteps,
)

AT = 1_700_000_000.0


def told(starts: StartSteps) -> list[tuple[str, float, str]]:
    annotations = starts.annotations("u") or {}
    read = steps.from_text(annotations.get(steps.ANNOTATION))
    return [(step.name, round(step.end - step.begin, 3), step.detail) for step in read]


async def test_steps_follow_one_another() -> None:
    clock = ManualClock(AT)
    starts = StartSteps(clock)
    starts.begin("u")
    for name, network in ((PREPARE, None), (SANDBOX, AT + 1.4), (IMAGE, None)):
        await clock.advance(1)
        starts.reached("u", name, "main" if name == IMAGE else "", network=network)
    assert told(starts) == [(PREPARE, 1, ""), (NETWORK, 0.4, ""), (SANDBOX, 0.6, ""), (IMAGE, 1, "main")]
    assert starts.annotations("u") is None
    await clock.advance(1)
    starts.reached("u", PREPARE)  # of another round: for an init container
    starts.reached("u", START, "main")
    assert told(starts) == [(WAIT, 1, ""), (START, 0, "main")]
    starts.end("u")
    starts.reached("u", START)
    assert (starts.annotations("u"), len(starts)) == (None, 0)


@pytest.mark.parametrize("network", [None, AT - 100, AT + 100])
async def test_a_network_of_another_time_is_none(network: float | None) -> None:
    clock = ManualClock(AT)
    starts = StartSteps(clock)
    starts.begin("u")
    await clock.advance(1)
    starts.reached("u", SANDBOX, network=network)
    assert told(starts) == [(SANDBOX, 1, "")]


async def test_a_pod_that_fails_again_and_again_stays_small() -> None:
    starts = StartSteps(ManualClock(AT))
    starts.begin("u")
    for _ in range(1000):
        starts.reached("u", CREATE, "x" * 300)
    assert len(told(starts)) == steps.MOST_STEPS


def test_pods_that_are_not_starting_cost_nothing() -> None:
    starts = StartSteps(ManualClock(AT))
    starts.reached("other", START)
    starts.end("other")
    assert (starts.annotations("other"), len(starts)) == (None, 0)
