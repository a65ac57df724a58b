"""What a pod is reported to be: a pure function of its definition, of what the runtime has and of what was said before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.podrestart import all_could_restart, should_restart
from pybernetes.lib import times
from pybernetes.node.kubelet.plan import is_sidecar, triggers
from pybernetes.node.kubelet.state import PodRuntime, Run, State

Fields = dict[str, Any]
ENDED = ("Succeeded", "Failed")
# Conditions that the kubelet decides; all others belong to somebody else.
OWN_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled",
                  "PodResizePending", "PodResizeInProgress", "AllContainersRestarting")  # fmt: skip
_GONE = 137
_RESTARTING = "RestartingAllContainers"
_RESTARTING_TEXT = "The container is removed because RestartAllContainers in place"


@dataclass(frozen=True, slots=True)
class Facts:
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


def pod_status(pod: Fields, runtime: PodRuntime, previous: Fields, facts: Facts) -> Fields:
    """The status of a pod; ``previous`` is the one that was reported last."""
    spec = pod["spec"]
    status: Fields = {}
    inits = spec.get("initContainers", [])
    initial = ("PodInitializing" if inits else "ContainerCreating", "")
    groups = (
        ("initContainers", "initContainerStatuses", ("PodInitializing", "")),
        ("containers", "containerStatuses", initial),
        ("ephemeralContainers", "ephemeralContainerStatuses", ("", "")),
    )
    for group, key, default in groups:
        if spec.get(group):
            status[key] = [
                _container(pod, group, container, runtime, previous.get(key, ()), default, facts)
                for container in spec[group]
            ]
    own = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    by_name = {each["name"]: each for each in own}
    status["phase"] = _phase(pod, by_name, facts, runtime)
    reported = pod.get("status", {})
    for earlier in (previous, reported):
        if earlier.get("phase") in ENDED:
            status["phase"] = earlier["phase"]
    if status["phase"] == previous.get("phase"):
        for key in ("reason", "message"):
            if previous.get(key) or reported.get(key):
                status[key] = previous.get(key) or reported.get(key)
    if facts.verdict is not None and reported.get("phase") not in ENDED:
        status["phase"] = "Failed"
        status["reason"], status["message"] = facts.verdict
    _addresses(status, spec, runtime, previous, facts)
    status["startTime"] = previous.get("startTime") or reported.get("startTime") or times.seconds(facts.now)
    if pod["metadata"].get("generation"):
        status["observedGeneration"] = pod["metadata"]["generation"]
    status["qosClass"] = reported.get("qosClass") or previous.get("qosClass")
    status["conditions"] = _conditions(pod, status, by_name, runtime, previous, facts)
    return {key: value for key, value in status.items() if value not in (None, "", [])}


# -- containers ------------------------------------------------------------------------------------------


def _container(
    pod: Fields,
    group: str,
    container: Fields,
    runtime: PodRuntime,
    previous: Any,
    default: tuple[str, str],
    facts: Facts,
) -> Fields:
    name = container["name"]
    old: Fields = next((each for each in previous if each["name"] == name), {})
    run, before = runtime.run(name), runtime.previous(name)
    result: Fields = {"name": name, "image": container["image"], "imageID": "", "restartCount": 0}
    result["state"] = {"waiting": _named(*default)}
    result["lastState"] = old.get("lastState") or {}
    if container.get("volumeMounts"):
        result["volumeMounts"] = [_volume_mount(mount) for mount in container["volumeMounts"]]
    if (
        run is None
        and _all_restart(pod, runtime, facts)
        and "waiting" not in (old.get("state") or {"waiting": 0})
    ):
        result["state"] = {"waiting": _named(_RESTARTING, _RESTARTING_TEXT)}
        ended = {
            "exitCode": _GONE,
            "reason": _RESTARTING,
            "message": _RESTARTING_TEXT,
            "startedAt": None,
            "finishedAt": None,
        }
        result["lastState"] = {"terminated": ended}
        result["restartCount"] = old.get("restartCount", 0) + 1
    elif run is None:
        _without_run(result, old, pod, default)
    else:
        result["image"], result["imageID"] = run.image or container["image"], run.image_ref
        result["restartCount"] = run.attempt
        result["containerID"] = f"{facts.runtime_name}://{run.id}"
        result["state"] = _state(run, facts.runtime_name)
        if before is not None:
            result["lastState"] = _state(before, facts.runtime_name)
        elif old.get("containerID") not in (None, result["containerID"]) and "terminated" in old.get(
            "state", {}
        ):
            result["lastState"] = old["state"]
    _waits(pod, container, result, run, facts)
    if group != "ephemeralContainers":
        if container.get("resources"):
            result["resources"] = facts.in_force.get(name) or container["resources"]
            if container["resources"].get("requests"):
                result["allocatedResources"] = container["resources"]["requests"]
        _probed(group, container, result, run, old, facts)
    else:
        result["ready"] = False
    return result


def _all_restart(pod: Fields, runtime: PodRuntime, facts: Facts) -> bool:
    """Whether a container has ended whose rule has all of them start again."""
    return all_could_restart(pod["spec"]) and (facts.restarting or bool(triggers(pod["spec"], runtime)))


def _named(reason: str, message: str) -> Fields:
    found = {"reason": reason, "message": message}
    return {key: value for key, value in found.items() if value}


def _volume_mount(mount: Fields) -> Fields:
    result = {"name": mount["name"], "mountPath": mount["mountPath"]}
    if mount.get("readOnly"):
        result |= {"readOnly": True, "recursiveReadOnly": "Disabled"}
        if mount.get("recursiveReadOnly") == "Enabled":
            result["recursiveReadOnly"] = "Enabled"
    return result


def _state(run: Run, runtime_name: str) -> Fields:
    if run.state is State.RUNNING:
        return {"running": {"startedAt": times.seconds(run.started)}}
    if run.state is State.EXITED:
        ended: Fields = {
            "exitCode": run.exit_code,
            "reason": run.reason or ("Completed" if run.exit_code == 0 else "Error"),
            "startedAt": times.seconds(run.started or run.created),
            "finishedAt": times.seconds(run.finished),
            "containerID": f"{runtime_name}://{run.id}",
        }
        if run.message:
            ended["message"] = run.message
        return {"terminated": ended}
    return {"waiting": {}}


def _without_run(result: Fields, old: Fields, pod: Fields, default: tuple[str, str]) -> None:
    """The runtime has nothing of the container: it never ran, or what it had was removed."""
    state = old.get("state") or {}
    if "terminated" in state:
        result.update({key: old[key] for key in ("state", "imageID", "image", "containerID") if key in old})
        result["restartCount"] = old.get("restartCount", 0)
        return
    result["restartCount"] = old.get("restartCount", 0)
    if "running" in state and not result["lastState"]:
        result["lastState"] = {
            "terminated": {
                "exitCode": _GONE,
                "reason": "ContainerStatusUnknown",
                "message": "The container could not be located when the pod was deleted.  The container used to be Running",
                "startedAt": None,
                "finishedAt": None,
            }
        }
        if not pod["metadata"].get("deletionTimestamp"):
            result["restartCount"] += 1


def _waits(pod: Fields, container: Fields, result: Fields, run: Run | None, facts: Facts) -> None:
    """A container that failed to start, or that waits to be started again, says why."""
    reason = facts.waiting.get(container["name"])
    if reason is None or (run is not None and run.state is State.RUNNING):
        return
    if run is not None and run.state is State.EXITED:
        if facts.ended or not should_restart(
            container, pod["spec"].get("restartPolicy", "Always"), run.exit_code
        ):
            return
        result["lastState"] = result["state"]
    result["state"] = {"waiting": _named(*reason)}


def _probed(
    group: str, container: Fields, result: Fields, run: Run | None, old: Fields, facts: Facts
) -> None:
    running = run is not None and "running" in result["state"]
    if group == "initContainers" and not is_sidecar(container):
        ended = result["state"].get("terminated")
        result["ready"] = ended is not None and ended["exitCode"] == 0
        result["started"] = running
        return
    started = running and ("startupProbe" not in container or facts.started.get(run.id, False))  # type: ignore[union-attr]
    result["started"] = started
    if "readinessProbe" in container:
        result["ready"] = started and facts.ready.get(run.id, False)  # type: ignore[union-attr]
    else:
        result["ready"] = started


# -- the pod ---------------------------------------------------------------------------------------------


def _phase(pod: Fields, by_name: Mapping[str, Fields], facts: Facts, runtime: PodRuntime) -> str:
    spec = pod["spec"]
    policy = spec.get("restartPolicy", "Always")
    pending = failed = unstarted = 0
    running = waiting = stopped = lasting = succeeded = 0

    def over(container: Fields, code: int) -> bool:
        ended = by_name[container["name"]]
        for state in (ended["state"], ended["lastState"]):
            if (state.get("terminated") or {}).get("reason") == _RESTARTING:
                return False
        return not should_restart(container, policy, code)

    for container in spec.get("initContainers", ()):
        status = by_name[container["name"]]
        state, last = status["state"], status["lastState"]
        if is_sidecar(container):
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
        (run := runtime.current(container["name"])) is not None and run.state in (State.RUNNING, State.EXITED)
        for container in spec.get("containers", ())
    )
    if pending or (unstarted and not initialized) or waiting:
        return "Pending"
    if running:
        return "Running"
    if not stopped:
        return "Pending"
    if (facts.ended and not is_static(pod)) or stopped == lasting:
        return "Succeeded" if stopped == succeeded else "Failed"
    return "Running"


def is_static(pod: Fields) -> bool:
    """Whether the pod comes from somewhere else than the API server."""
    source = (pod["metadata"].get("annotations") or {}).get("kubernetes.io/config.source")
    return source is not None and source != "api"


def _addresses(status: Fields, spec: Fields, runtime: PodRuntime, previous: Fields, facts: Facts) -> None:
    if facts.host:
        status["hostIP"] = facts.host[0]
        status["hostIPs"] = [{"ip": address} for address in facts.host[:2]]
    if spec.get("hostNetwork"):
        addresses = facts.host[:2]
    else:
        sandbox = runtime.sandboxes[0] if runtime.sandboxes else None
        addresses = sandbox.addresses if sandbox is not None and sandbox.ready else ()
        # A pod whose sandbox is gone keeps its last address, for those who want to know what it had.
        if not addresses:
            addresses = tuple(each["ip"] for each in previous.get("podIPs", ()))
    if addresses:
        status["podIP"] = addresses[0]
        status["podIPs"] = [{"ip": address} for address in addresses]


def _conditions(
    pod: Fields,
    status: Fields,
    by_name: Mapping[str, Fields],
    runtime: PodRuntime,
    previous: Fields,
    facts: Facts,
) -> list[Fields]:
    reported = {each["type"]: each for each in pod.get("status", {}).get("conditions", ())}
    said = {each["type"]: each for each in previous.get("conditions", ())}
    others = [each for type_, each in reported.items() if type_ not in OWN_CONDITIONS]
    if "DisruptionTarget" in said and "DisruptionTarget" not in reported:
        others.append(said["DisruptionTarget"])
    elif facts.disruption and "DisruptionTarget" not in reported:
        made = _condition("DisruptionTarget", True, "TerminationByKubelet", facts.disruption)
        others.append(made | {"lastProbeTime": None, "lastTransitionTime": times.seconds(facts.now)})
    containers = _containers_ready(pod["spec"], by_name, status["phase"])
    found = [
        *(dict(each) for each in facts.resize),
        _sandbox_condition(runtime),
        _initialized(pod["spec"], by_name, status["phase"]),
        _ready(pod["spec"], containers, {each["type"]: each for each in others}),
        containers,
        {"type": "PodScheduled", "status": "True"},
    ]
    if all_could_restart(pod["spec"]):
        found.append(_restarting(pod, runtime, status["phase"], facts))
    for each in found:
        old = said.get(each["type"]) or reported.get(each["type"]) or {}
        same = old.get("status") == each["status"]
        moment = old.get("lastTransitionTime") if same else None
        each["lastProbeTime"] = None
        each["lastTransitionTime"] = moment or times.seconds(facts.now)
        if pod["metadata"].get("generation"):
            each.setdefault("observedGeneration", pod["metadata"]["generation"])
    return others + found


def _condition(type_: str, true: bool, reason: str = "", message: str = "") -> Fields:
    return {"type": type_, "status": "True" if true else "False", **_named(reason, message)}


def _restarting(pod: Fields, runtime: PodRuntime, phase: str, facts: Facts) -> Fields:
    if phase in ENDED:
        return _condition(
            "AllContainersRestarting", False, {"Succeeded": "PodCompleted"}.get(phase, "PodFailed")
        )
    under_way = _all_restart(pod, runtime, facts) and any(
        runtime.run(each["name"]) is not None
        for group in ("initContainers", "containers")
        for each in pod["spec"].get(group, ())
    )
    if not under_way:
        return _condition("AllContainersRestarting", False)
    text = "container exited with restart policy rule"
    return _condition("AllContainersRestarting", True, "RestartAllContainersStarted", text)


def _sandbox_condition(runtime: PodRuntime) -> Fields:
    sandbox = runtime.sandbox
    return _condition(
        "PodReadyToStartContainers", bool(sandbox and (sandbox.addresses or sandbox.host_network))
    )


def _initialized(spec: Fields, by_name: Mapping[str, Fields], phase: str) -> Fields:
    incomplete = [
        container["name"]
        for container in spec.get("initContainers", ())
        if not by_name[container["name"]].get("started" if is_sidecar(container) else "ready")
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


def _containers_ready(spec: Fields, by_name: Mapping[str, Fields], phase: str) -> Fields:
    if phase in ENDED:
        return _condition("ContainersReady", False, "PodCompleted" if phase == "Succeeded" else "PodFailed")
    lasting = [each for each in spec.get("initContainers", ()) if is_sidecar(each)]
    unready = [
        each["name"]
        for each in (*lasting, *spec.get("containers", ()))
        if not by_name[each["name"]].get("ready")
    ]
    if unready:
        text = f"containers with unready status: [{' '.join(unready)}]"
        return _condition("ContainersReady", False, "ContainersNotReady", text)
    return _condition("ContainersReady", True)


def _ready(spec: Fields, containers: Fields, others: Mapping[str, Fields]) -> Fields:
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
