"""What pods are made of is handled in linear time: twice as much takes at most 2.6 times as long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.containers.expansion import expand, missing
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime, PodSandbox
from pybernetes.node.kubelet.pod.plan import Probed, plan
from pybernetes.node.kubelet.pod_admission import predicates
from pybernetes.node.kubelet.status.pod_status import pod_status
from pybernetes.node.kubelet.status.status_inputs import StatusInputs
from pybernetes.node.kubelet.volumes.container_mounts import container_mounts
from pybernetes.node.kubelet.volumes.nested_mounts import nested_mount_points
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume
from tests.doubling import MOST_GROWTH, Input, growth
from tests.node.kubelet.pods import pod


def _many(size: int) -> tuple[Object, PodRuntime, Object]:
    """Return a pod of many containers and sidecars that have started again, what the runtime has, and its status."""
    containers = [{"name": f"c{number}", "image": "i"} for number in range(size)]
    sidecars = [{"name": f"s{number}", "image": "i", "restartPolicy": "Always"} for number in range(size)]
    states = (ContainerState.RUNNING, ContainerState.EXITED)
    runs = [
        ContainerRun(f"{container['name']}-{attempt}", container["name"], state, "s", attempt)
        for container in (*containers, *sidecars)
        for attempt, state in zip((1, 0), states, strict=True)
    ]
    runtime = PodRuntime("u", (PodSandbox("s", True, 1.0, 0, ("10.0.0.1",)),), tuple(runs))
    statuses = {
        key: [{"name": container["name"], "state": {}, "lastState": {}} for container in group]
        for key, group in (("containerStatuses", containers), ("initContainerStatuses", sidecars))
    }
    return {**pod(), "spec": {"containers": containers, "initContainers": sidecars}}, runtime, statuses


def _reported(given: tuple[Object, PodRuntime, Object]) -> Object:
    return pod_status(*given, StatusInputs(now=0.0))


def _planned(given: tuple[Object, PodRuntime, Object]) -> Any:
    return plan(given[0], given[1], Probed({}, {}), {})


def _ports(size: int) -> tuple[Object, Object]:
    def using(protocol: str) -> Object:
        numbers = range(1, size + 1)
        return pod({"ports": [{"containerPort": 1, "hostPort": n, "protocol": protocol} for n in numbers]})

    return using("TCP"), using("UDP")


def _mounts(size: int) -> Object:
    return {"name": "c", "volumeMounts": [{"name": "v", "mountPath": f"/a/{n}"} for n in range(size)]}


INPUTS = [
    Input("references without an end", lambda size: "$(" * size, lambda text: expand(text, {})),
    Input("names without an end", lambda size: "$(" * size, lambda text: missing(text, {})),
    Input("references", lambda size: "$(A)$$" * size, lambda text: expand(text, {"A": "1"})),
    Input("the status of many containers", _many, _reported),
    Input("the plan of many containers", _many, _planned),
    # Beyond these sizes two pods' ports leave the processor's cache, and that is what would be measured.
    Input("ports of the host", _ports, lambda pods: predicates._ports(pods[0], [pods[1]]), largest=1 << 12),
    Input("mounts in mounts", _mounts, lambda container: nested_mount_points(pod(container))),
    Input(
        "mounts",
        _mounts,
        lambda container: container_mounts(
            pod(), container, {"v": MountedVolume("/x")}, {}, Path("/nowhere"), None
        ),
    ),
]


@pytest.mark.parametrize("input_", INPUTS, ids=[row.name for row in INPUTS])
def test_twice_the_pod_takes_at_most_twice_the_time(input_: Input) -> None:
    assert growth(input_) <= MOST_GROWTH
