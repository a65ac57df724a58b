"""What a pod's status depends on besides the pod and the runtime, and what the computations share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pybernetes.api.core.pod.restart_policy import all_could_restart
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime, restart_triggers

ENDED = ("Succeeded", "Failed")
# Conditions that the kubelet owns; all others belong to somebody else.
OWN_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled",
                  "PodResizePending", "PodResizeInProgress", "AllContainersRestarting")  # fmt: skip
RESTARTING = "RestartingAllContainers"


@dataclass(frozen=True, slots=True)
class StatusInputs:
    """What the status depends on besides the pod and the runtime."""

    now: float
    runtime_name: str = "containerd"
    host: tuple[str, ...] = ()
    # Why a container that should run does not: name → (reason, message).
    waiting: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # The results of probes, by id of the run; absent if not known yet.
    ready: Mapping[str, bool] = field(default_factory=dict)
    started: Mapping[str, bool] = field(default_factory=dict)
    restarting: bool = False  # all containers were about to start again
    ended: bool = False  # nothing of the pod will start again
    verdict: tuple[str, str] | None = None  # reason and message of a pod that was made to fail
    disruption: str = ""  # why the kubelet evicted or preempted it
    resize: tuple[Object, ...] = ()  # conditions about a change of resources
    in_force: Mapping[str, Object] = field(default_factory=dict)  # resources of running containers by name


def all_containers_restart(pod: Object, runtime: PodRuntime, inputs: StatusInputs) -> bool:
    """Return whether a container has ended whose restart rule makes all of them start again."""
    return all_could_restart(pod["spec"]) and (
        inputs.restarting or bool(restart_triggers(pod["spec"], runtime))
    )


def reason_and_message(reason: str, message: str) -> Object:
    """Return the fields ``reason`` and ``message`` without empty ones."""
    fields = {"reason": reason, "message": message}
    return {key: value for key, value in fields.items() if value}
