"""The values that stages use besides the pod itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from hashlib import sha256
from typing import Any

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.tools.local.hollow import container_exit
from pybernetes.tools.local.hollow.render import ABSENT, Inputs

_MISSING = (":404", ":missing", ":non-existent")
_FIRST_RESTART = 10.0
_LONGEST_RESTART = 300.0


def of(
    pod: Object,
    *,
    now: float,
    host: str,
    address: Callable[[], str],
    start_seconds: float = 0.0,
    taken: Collection[tuple[str, int]] = (),
) -> Inputs:
    """Return the facts: the time, addresses, and how the pod is going to end."""
    status, moment = pod.get("status", {}), rfc3339.seconds(now)
    statuses = {
        container_status["name"]: container_status
        for container_status in status.get("containerStatuses") or ()
    }
    pod_exit = container_exit.of_pod(pod) if status.get("phase") == "Running" else None
    code = pod_exit.exit_code if pod_exit else 0

    def container(item: Object) -> Inputs:
        container_status = statuses.get(item["name"], {})
        running = container_status.get("state", {}).get("running", {})
        digest = sha256(f"{pod['metadata'].get('uid')}/{item['name']}".encode()).hexdigest()
        restarts = container_status.get("restartCount", 0)
        return {
            "imageID": f"{item['image']}@sha256:{sha256(item['image'].encode()).hexdigest()}",
            "containerID": f"hollow://{digest}",
            "startedAt": running.get("startedAt", status.get("startTime", moment)),
            "restarts": restarts,
            "restartsPlusOne": restarts + 1,
            "initState": _init_state(item, moment, digest),
        }

    own = lru_cache(maxsize=1)(address)  # one per pod, and none for a pod that has one already
    inputs: dict[str, Any] = {
        "now": moment,
        "hostIP": host,
        "podIP": host if pod["spec"].get("hostNetwork") else lambda _: own(),
        "keep": "$keep",
        "container": container,
        "startSeconds": start_seconds,
        "exitCode": code,
        "exitReason": "Error" if code else "Completed",
        "endPhase": "Failed" if code else "Succeeded",
        "endReason": "PodFailed" if code else "PodCompleted",
        "outcome": ABSENT,
        "overruled": _is_overruled(status),
        "portTaken": any(port in taken for port in host_ports(pod)),
        "imageMissing": any(spec["image"].endswith(_MISSING) for spec in pod["spec"]["containers"]),
    }
    if pod_exit is not None:
        inputs |= _outcome(pod, pod_exit, now)
    return inputs


def host_ports(pod: Object) -> list[tuple[str, int]]:
    """Return the ports of its node that a pod asks for."""
    return [
        (port.get("protocol", "TCP"), port["hostPort"])
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def _is_overruled(status: Object) -> bool:
    """Return whether somebody else says that a pod is not ready, all of whose containers are."""
    conditions = {condition["type"]: condition["status"] for condition in status.get("conditions") or ()}
    ready = all(container_status.get("ready") for container_status in status.get("containerStatuses") or ())
    return ready and any(conditions.get(name, "True") != "True" for name in ("Ready", "ContainersReady"))


def _outcome(pod: Object, pod_exit: container_exit.ContainerExit, now: float) -> Inputs:
    """Return whether the pod ends or its containers are restarted, and how many seconds are left until then."""
    policy = pod["spec"].get("restartPolicy", "Always")
    statuses = pod.get("status", {}).get("containerStatuses") or [{}]
    restarts = max(container_status.get("restartCount", 0) for container_status in statuses)
    started = [
        container_status.get("state", {}).get("running", {}).get("startedAt") for container_status in statuses
    ]
    since = max((rfc3339.parse(text) for text in started if text), default=now)
    left = max(0.0, since + pod_exit.seconds - now)
    again = policy == "Always" or (policy == "OnFailure" and pod_exit.exit_code)
    pause = min(_LONGEST_RESTART, _FIRST_RESTART * 2 ** min(restarts - 1, 10)) if restarts else 0.0
    outcome = "restart" if again else "fail" if pod_exit.exit_code else "succeed"
    return {"outcome": outcome, "runSeconds": left, "restartSeconds": left + pause}


def _init_state(container: Object, moment: str, digest: str) -> Object:
    """Return the state of an init container: sidecars run, others have ended before the pod starts."""
    if is_restartable(container):
        return {"started": True, "state": {"running": {"startedAt": moment}}}
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": moment, "finishedAt": moment, "containerID": f"hollow://{digest}"}  # fmt: skip
    return {"started": False, "state": {"terminated": ended}}
