"""What a pod takes."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from tests.scheduling.asking import put, world
from tests.scheduling.builders import node, pod


@pytest.mark.parametrize(
    ("status", "cpu"),
    [
        ({}, 1000),  # what is asked for
        ({"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "2"}}]}, 2000),  # promised more
        ({"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}, 3000),  # has more
        ({"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "500m"}, "resources": {"requests": {"cpu": "500m"}}}],
          "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}, 500),  # will not get it
        ({"containerStatuses": [{"name": "main", "resources": {}}]}, 1000),  # has nothing so far
        ({"containerStatuses": [{"name": "main", "resources": {}}],
          "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}, 0),  # and stays so
    ],
)  # fmt: skip
def test_a_resized_pod_takes_the_most_of_what_it_has_and_what_it_asks_for(status: Object, cpu: int) -> None:
    ours = world(node("n"))
    put(ours, "n", {**pod("there", cpu="1"), "status": status})
    assert int(ours.snapshot.requested[0, 0]) == cpu


def test_resources_of_the_pod_as_a_whole() -> None:
    ours = world(node("n"))
    put(ours, "n", pod("there", cpu="1", resources={"requests": {"cpu": "2", "memory": "1Gi"}}))
    assert (int(ours.snapshot.requested[0, 0]), int(ours.snapshot.requested[1, 0])) == (2000, 2**30)
    assert (int(ours.snapshot.counted[0, 0]), int(ours.snapshot.counted[1, 0])) == (2000, 2**30)
