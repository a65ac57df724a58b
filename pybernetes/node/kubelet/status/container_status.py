"""The reported status of one container."""

from __future__ import annotations

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.core.pod.restart_policy import should_restart
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime
from pybernetes.node.kubelet.status.status_inputs import (
    RESTARTING,
    StatusInputs,
    reason_and_message,
)

_GONE = 137
_RESTARTING_TEXT = "The container is removed because RestartAllContainers in place"


def container_status(
    pod: Object,
    group: str,
    container: Object,
    runtime: PodRuntime,
    old: Object,
    default: tuple[str, str],
    inputs: StatusInputs,
    all_restart: bool = False,
) -> Object:
    """Return the status of a container; ``old`` is that reported last, ``default`` why it waits at first.

    ``all_restart`` is whether a container has ended that makes all of them start again.
    """
    name = container["name"]
    run, before = runtime.run(name), runtime.previous(name)
    result: Object = {"name": name, "image": container["image"], "imageID": "", "restartCount": 0}
    result["state"] = {"waiting": reason_and_message(*default)}
    result["lastState"] = old.get("lastState") or {}
    if container.get("volumeMounts"):
        result["volumeMounts"] = [_volume_mount(mount) for mount in container["volumeMounts"]]
    if run is None and all_restart and "waiting" not in (old.get("state") or {"waiting": 0}):
        result["state"] = {"waiting": reason_and_message(RESTARTING, _RESTARTING_TEXT)}
        ended = {
            "exitCode": _GONE,
            "reason": RESTARTING,
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
        result["containerID"] = f"{inputs.runtime_name}://{run.id}"
        result["state"] = _state(run, inputs.runtime_name)
        if before is not None:
            result["lastState"] = _state(before, inputs.runtime_name)
        elif old.get("containerID") not in (None, result["containerID"]) and "terminated" in old.get(
            "state", {}
        ):
            result["lastState"] = old["state"]
    _waits(pod, container, result, run, inputs)
    if run is not None:
        # A container that asked for nothing has nothing, which is a value, too.
        asked = container.get("resources") or {}
        result["resources"] = inputs.in_force.get(name) or asked
        if asked.get("requests"):
            result["allocatedResources"] = asked["requests"]
    if group != "ephemeralContainers":
        _probed(group, container, result, run, old, inputs)
    else:
        result["ready"] = False
    return result


def _volume_mount(mount: Object) -> Object:
    result = {"name": mount["name"], "mountPath": mount["mountPath"]}
    if mount.get("readOnly"):
        result |= {"readOnly": True, "recursiveReadOnly": "Disabled"}
        if mount.get("recursiveReadOnly") == "Enabled":
            result["recursiveReadOnly"] = "Enabled"
    return result


def _state(run: ContainerRun, runtime_name: str) -> Object:
    if run.state is ContainerState.RUNNING:
        return {"running": {"startedAt": rfc3339.seconds(run.started)}}
    if run.state is ContainerState.EXITED:
        ended: Object = {
            "exitCode": run.exit_code,
            "reason": run.reason or ("Completed" if run.exit_code == 0 else "Error"),
            "startedAt": rfc3339.seconds(run.started or run.created),
            "finishedAt": rfc3339.seconds(run.finished),
            "containerID": f"{runtime_name}://{run.id}",
        }
        if run.message:
            ended["message"] = run.message
        return {"terminated": ended}
    return {"waiting": {}}


def _without_run(result: Object, old: Object, pod: Object, default: tuple[str, str]) -> None:
    """Fill in the state of a container that the runtime does not know: it never ran, or its runs were removed."""
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


def _waits(
    pod: Object, container: Object, result: Object, run: ContainerRun | None, inputs: StatusInputs
) -> None:
    """Fill in why a container waits that failed to start or is about to be started again."""
    reason = inputs.waiting.get(container["name"])
    if reason is None or (run is not None and run.state is ContainerState.RUNNING):
        return
    if run is not None and run.state is ContainerState.EXITED:
        if inputs.ended or not should_restart(
            container, pod["spec"].get("restartPolicy", "Always"), run.exit_code
        ):
            return
        result["lastState"] = result["state"]
    result["state"] = {"waiting": reason_and_message(*reason)}


def _probed(
    group: str, container: Object, result: Object, run: ContainerRun | None, old: Object, inputs: StatusInputs
) -> None:
    running = run is not None and "running" in result["state"]
    if group == "initContainers" and not is_restartable(container):
        ended = result["state"].get("terminated")
        result["ready"] = ended is not None and ended["exitCode"] == 0
        result["started"] = running
        return
    started = running and ("startupProbe" not in container or inputs.started.get(run.id, False))  # type: ignore[union-attr]
    result["started"] = started
    if "readinessProbe" in container:
        result["ready"] = started and inputs.ready.get(run.id, False)  # type: ignore[union-attr]
    else:
        result["ready"] = started
