"""The reported conditions of a pod, from the statuses of its containers."""

from __future__ import annotations

from collections.abc import Mapping

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.core.pod.restart_policy import all_could_restart
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime
from pybernetes.node.kubelet.status.status_inputs import (
    ENDED,
    OWN_CONDITIONS,
    StatusInputs,
    all_containers_restart,
    reason_and_message,
)


def pod_conditions(
    pod: Object,
    status: Object,
    by_name: Mapping[str, Object],
    runtime: PodRuntime,
    previous: Object,
    inputs: StatusInputs,
) -> list[Object]:
    """Return the conditions of a pod, including those of others; each keeps the time of its last transition."""
    reported = {condition["type"]: condition for condition in pod.get("status", {}).get("conditions", ())}
    said = {condition["type"]: condition for condition in previous.get("conditions", ())}
    others = [condition for type_, condition in reported.items() if type_ not in OWN_CONDITIONS]
    if "DisruptionTarget" in said and "DisruptionTarget" not in reported:
        others.append(said["DisruptionTarget"])
    elif inputs.disruption and "DisruptionTarget" not in reported:
        made = _condition("DisruptionTarget", True, "TerminationByKubelet", inputs.disruption)
        others.append(made | {"lastProbeTime": None, "lastTransitionTime": rfc3339.seconds(inputs.now)})
    containers = _containers_ready(pod["spec"], by_name, status["phase"])
    conditions = [
        *(dict(condition) for condition in inputs.resize),
        _sandbox_condition(runtime),
        _initialized(pod["spec"], by_name, status["phase"]),
        _ready(pod["spec"], containers, {condition["type"]: condition for condition in others}),
        containers,
        {"type": "PodScheduled", "status": "True"},
    ]
    if all_could_restart(pod["spec"]):
        conditions.append(_restarting(pod, runtime, status["phase"], inputs))
    for condition in conditions:
        old = said.get(condition["type"]) or reported.get(condition["type"]) or {}
        same = old.get("status") == condition["status"]
        moment = old.get("lastTransitionTime") if same else None
        condition["lastProbeTime"] = None
        condition["lastTransitionTime"] = moment or rfc3339.seconds(inputs.now)
        if pod["metadata"].get("generation"):
            condition.setdefault("observedGeneration", pod["metadata"]["generation"])
    return others + conditions


def _condition(type_: str, true: bool, reason: str = "", message: str = "") -> Object:
    return {"type": type_, "status": "True" if true else "False", **reason_and_message(reason, message)}


def _restarting(pod: Object, runtime: PodRuntime, phase: str, inputs: StatusInputs) -> Object:
    if phase in ENDED:
        return _condition(
            "AllContainersRestarting", False, {"Succeeded": "PodCompleted"}.get(phase, "PodFailed")
        )
    under_way = all_containers_restart(pod, runtime, inputs) and any(
        runtime.run(container["name"]) is not None
        for group in ("initContainers", "containers")
        for container in pod["spec"].get(group, ())
    )
    if not under_way:
        return _condition("AllContainersRestarting", False)
    text = "container exited with restart policy rule"
    return _condition("AllContainersRestarting", True, "RestartAllContainersStarted", text)


def _sandbox_condition(runtime: PodRuntime) -> Object:
    sandbox = runtime.sandbox
    return _condition(
        "PodReadyToStartContainers", bool(sandbox and (sandbox.addresses or sandbox.host_network))
    )


def _initialized(spec: Object, by_name: Mapping[str, Object], phase: str) -> Object:
    incomplete = [
        container["name"]
        for container in spec.get("initContainers", ())
        if not by_name[container["name"]].get("started" if is_restartable(container) else "ready")
    ]
    if phase == "Succeeded":
        return _condition("Initialized", True, "PodCompleted")
    begun = any(
        by_name[container["name"]].get("started")
        or "terminated" in by_name[container["name"]]["state"]
        or "terminated" in by_name[container["name"]]["lastState"]
        for container in spec.get("containers", ())
    )
    if begun or not incomplete:
        return _condition("Initialized", True)
    text = f"containers with incomplete status: [{' '.join(incomplete)}]"
    return _condition("Initialized", False, "ContainersNotInitialized", text)


def _containers_ready(spec: Object, by_name: Mapping[str, Object], phase: str) -> Object:
    if phase in ENDED:
        return _condition("ContainersReady", False, "PodCompleted" if phase == "Succeeded" else "PodFailed")
    lasting = [container for container in spec.get("initContainers", ()) if is_restartable(container)]
    unready = [
        container["name"]
        for container in (*lasting, *spec.get("containers", ()))
        if not by_name[container["name"]].get("ready")
    ]
    if unready:
        text = f"containers with unready status: [{' '.join(unready)}]"
        return _condition("ContainersReady", False, "ContainersNotReady", text)
    return _condition("ContainersReady", True)


def _ready(spec: Object, containers: Object, others: Mapping[str, Object]) -> Object:
    if containers["status"] != "True":
        return {**containers, "type": "Ready"}
    problems = []
    for gate in spec.get("readinessGates", ()):
        name = gate["conditionType"]
        if name not in others:
            problems.append(f'corresponding condition of pod readiness gate "{name}" does not exist.')
        elif others[name]["status"] != "True":
            problems.append(
                f'the status of pod readiness gate "{name}" is not "True", but {others[name]["status"]}'
            )
    if problems:
        return _condition("Ready", False, "ReadinessGatesNotReady", ", ".join(problems))
    return _condition("Ready", True)
