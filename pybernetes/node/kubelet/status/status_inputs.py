"""What a pod's status depends on besides the pod and the runtime, and what its parts share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.core.pod.restart_policy import all_could_restart
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime
from pybernetes.node.kubelet.pod.plan import triggers

Fields = dict[str, Any]
ENDED = ("Succeeded", "Failed")
# Conditions that the kubelet decides; all others belong to somebody else.
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
    # What probes found, by id of the run; absent if not known yet.
    ready: Mapping[str, bool] = field(default_factory=dict)
    started: Mapping[str, bool] = field(default_factory=dict)
    restarting: bool = False  # all containers were on their way to begin anew
    ended: bool = False  # nothing of the pod will start again
    verdict: tuple[str, str] | None = None  # reason and message of a pod that was made to fail
    disruption: str = ""  # why the kubelet ended it for the good of others
    resize: tuple[Fields, ...] = ()  # conditions about a change of resources
    in_force: Mapping[str, Fields] = field(default_factory=dict)  # resources of running containers by name


def is_static(pod: Fields) -> bool:
    """Return whether the pod comes from a source other than the API server."""
    source = (pod["metadata"].get("annotations") or {}).get("kubernetes.io/config.source")
    return source is not None and source != "api"


def all_restart(pod: Fields, runtime: PodRuntime, inputs: StatusInputs) -> bool:
    """Return whether a container has ended whose restart rule makes all of them start again."""
    return all_could_restart(pod["spec"]) and (inputs.restarting or bool(triggers(pod["spec"], runtime)))


def named(reason: str, message: str) -> Fields:
    """Return the fields ``reason`` and ``message`` without empty ones."""
    fields = {"reason": reason, "message": message}
    return {key: value for key, value in fields.items() if value}
