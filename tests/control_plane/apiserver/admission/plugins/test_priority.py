"""Priority: what it sets, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.admission.plugins.pods import (
    FORBIDDEN,
    refusal,
    spec_after,
)
from tests.control_plane.apiserver.admission.world import Object, World, pod
from tests.support import run

HIGH = (
    "scheduling.k8s.io",
    "priorityclasses",
    {"metadata": {"name": "high"}, "value": 9, "preemptionPolicy": "Never"},
)


DEFAULT = ("scheduling.k8s.io", "priorityclasses", {"metadata": {"name": "usual"}, "value": 5, "globalDefault": True,
                                                    "preemptionPolicy": "PreemptLowerPriority"})  # fmt: skip


LESS = ("scheduling.k8s.io", "priorityclasses", {"metadata": {"name": "less"}, "value": 3, "globalDefault": True,
                                                 "preemptionPolicy": "PreemptLowerPriority"})  # fmt: skip


@pytest.mark.parametrize(
    ("given", "classes", "expected"),
    [
        ({}, [HIGH], {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}),
        ({"priorityClassName": "high"}, [HIGH], {"priority": 9, "preemptionPolicy": "Never"}),
        ({"priorityClassName": "high", "priority": 9}, [HIGH], {"priority": 9}),
        ({}, [DEFAULT], {"priorityClassName": "usual", "priority": 5}),
        ({}, [DEFAULT, LESS], {"priorityClassName": "less", "priority": 3}),
    ],
)
def test_priority(given: Object, classes: list[Any], expected: Object) -> None:
    spec = spec_after("Priority", pod(**given), *classes)
    assert spec | expected == spec


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"priorityClassName": "nope"}, "no PriorityClass with name nope was found"),
        (
            {"priorityClassName": "high", "priority": 4},
            "the integer value of priority (4) must not be provided in pod spec; priority admission controller "
            "computed 9 from the given PriorityClass name",
        ),
        (
            {"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"},
            "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority "
            "admission controller computed Never from the given PriorityClass name",
        ),
    ],
)
def test_priority_refuses(given: Object, message: str) -> None:
    assert refusal("Priority", pod(**given), HIGH) == FORBIDDEN + message


def test_priority_stays_and_there_is_one_default() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("Priority")
            old = pod(priority=9, preemptionPolicy="Never")
            assert (await world.admit(chain, "pods", pod(), old))["spec"]["priority"] == 9
            resource = "priorityclasses.scheduling.k8s.io"
            assert not await world.refusal(chain, resource, DEFAULT[2])
            await world.add(*DEFAULT)
            message = (
                'priorityclasses.scheduling.k8s.io "less" is forbidden: PriorityClass usual is already marked as '
                "default. Only one default can exist"
            )
            assert await world.refusal(chain, resource, LESS[2]) == message
            assert not await world.refusal(chain, resource, DEFAULT[2], DEFAULT[2])

    run(test())
