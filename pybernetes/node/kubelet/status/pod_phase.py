"""The reported phase of a pod, from the statuses of its containers."""

from __future__ import annotations

from collections.abc import Mapping

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.core.pod.restart_policy import should_restart
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState, PodRuntime
from pybernetes.node.kubelet.pod_kinds import is_static
from pybernetes.node.kubelet.status.status_inputs import RESTARTING, StatusInputs


def pod_phase(pod: Object, by_name: Mapping[str, Object], inputs: StatusInputs, runtime: PodRuntime) -> str:
    """Return the phase of a pod; ``by_name`` has the statuses of its containers."""
    spec = pod["spec"]
    policy = spec.get("restartPolicy", "Always")
    pending = failed = unstarted = 0
    running = waiting = stopped = lasting = succeeded = 0

    def over(container: Object, code: int) -> bool:
        ended = by_name[container["name"]]
        for state in (ended["state"], ended["lastState"]):
            if (state.get("terminated") or {}).get("reason") == RESTARTING:
                return False
        return not should_restart(container, policy, code)

    for container in spec.get("initContainers", ()):
        status = by_name[container["name"]]
        state, last = status["state"], status["lastState"]
        if is_restartable(container):
            if "running" in state:
                running += 1
                unstarted += not status.get("started")
            elif "waiting" in state and "terminated" not in last:
                unstarted += 1
                waiting += 1
            continue
        ended = state.get("terminated") or (last.get("terminated") if "waiting" in state else None)
        if ended is None:
            pending += 1
        elif ended["exitCode"] != 0:
            failed += over(container, ended["exitCode"])
    for container in spec.get("containers", ()):
        status = by_name[container["name"]]
        state, last = status["state"], status["lastState"]
        ended = state.get("terminated") or last.get("terminated")
        if "running" in state:
            running += 1
        elif ended is None:
            waiting += 1
        else:
            stopped += 1
            lasting += over(container, ended["exitCode"])
            if "terminated" in state:
                succeeded += ended["exitCode"] == 0
    if failed:
        return "Failed"
    initialized = any(
        (run := runtime.current(container["name"])) is not None
        and run.state in (ContainerState.RUNNING, ContainerState.EXITED)
        for container in spec.get("containers", ())
    )
    if pending or (unstarted and not initialized) or waiting:
        return "Pending"
    if running:
        return "Running"
    if not stopped:
        return "Pending"
    if (inputs.ended and not is_static(pod)) or stopped == lasting:
        return "Succeeded" if stopped == succeeded else "Failed"
    return "Running"
