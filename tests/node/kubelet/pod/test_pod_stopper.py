"""Containers are stopped, whatever their hooks do."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime
from pybernetes.node.kubelet.pod.pod_stopper import PodStopper
from tests.node.kubelet.pods import pod


@pytest.mark.parametrize(
    "hook",
    [
        {"httpGet": {"host": "[x", "port": 80}},
        {"httpGet": {"host": "a" * 70, "port": 80}},
        {"httpGet": {"port": 80}},  # of a pod without an address
        {"httpGet": {"host": "127.0.0.1", "port": "none"}},
        {"exec": {"command": ["x"]}},
        {},
    ],
)
async def test_a_hook_that_fails_keeps_nothing_from_being_stopped(hook: dict[str, Any]) -> None:
    stopped, events = [], []

    async def stop_container(run: str, grace: float) -> None:
        stopped.append(run)

    async def exec_sync(run: str, command: list[str], limit: int) -> None:
        raise RuntimeError("an error of ours")

    context: Any = SimpleNamespace(
        clock=Clock(),
        cri=SimpleNamespace(stop_container=stop_container, exec_sync=exec_sync),
        event=lambda pod, type_, reason, *rest: events.append(reason),
    )
    container = {"name": "c", "lifecycle": {"preStop": hook}}
    await PodStopper(context).stop_run(pod(), container, "run", 30.0, ())
    assert stopped == ["run"]
    assert events == (["FailedPreStopHook"] if hook else [])


@pytest.mark.parametrize("grace", [0.0, 30.0, 1e12, float(2**63 - 1)])
async def test_any_grace_period_is_one_that_the_runtime_takes(grace: float) -> None:
    """A call with a deadline beyond all numbers is never made: the container would not even be asked to end."""
    graces = []

    async def stop_container(run: str, grace: float) -> None:
        graces.append(grace)

    context: Any = SimpleNamespace(
        clock=Clock(),
        cri=SimpleNamespace(stop_container=stop_container),
        event=lambda *given: None,
    )
    container = {"name": "c", "lifecycle": {"preStop": {"sleep": {"seconds": 0}}}}
    await PodStopper(context).stop_run(pod(), container, "run", grace, ())
    assert 2.0 <= graces[0] < 2**31


async def test_sidecars_end_last_and_in_reverse_however_many_there_are() -> None:
    """A pod of 4,000 sidecars took 8 million waits to stop, and its kubelet did nothing else meanwhile."""
    stopped: list[str] = []

    async def stop_container(run: str, grace: float) -> None:
        stopped.append(run)

    sidecars = [{"name": f"s{number}", "restartPolicy": "Always"} for number in range(4000)]
    spec = {"initContainers": sidecars, "containers": [{"name": "a"}, {"name": "b"}]}
    names = ["a", "b", *(sidecar["name"] for sidecar in sidecars)]
    runs = tuple(ContainerRun(name, name, ContainerState.RUNNING) for name in names)
    context: Any = SimpleNamespace(
        clock=Clock(), cri=SimpleNamespace(stop_container=stop_container), event=lambda *given: None
    )
    async with asyncio.timeout(30):
        await PodStopper(context).stop_pod({**pod(), "spec": spec}, PodRuntime("uid", (), runs), 600.0, ())
    assert sorted(stopped[:2]) == ["a", "b"]
    assert stopped[2:] == [sidecar["name"] for sidecar in reversed(sidecars)]
