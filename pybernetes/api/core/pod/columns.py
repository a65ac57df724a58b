"""What a row of pods shows."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Column, Object
from pybernetes.api.table import AGE, NAME, since

_TERMINAL = ("Succeeded", "Failed")


class Summary(NamedTuple):
    """The state of a pod in the few words of a row."""

    ready: int
    total: int
    reason: str
    restarts: int
    last_restart: str


def _ended(status: Object) -> str:
    return status.get("lastState", {}).get("terminated", {}).get("finishedAt", "")


def _end_reason(terminated: Object) -> str:
    if terminated.get("reason"):
        return terminated["reason"]
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _condition(conditions: list[Object], kind: str) -> str:
    return next((item.get("status", "") for item in conditions if item.get("type") == kind), "")


def summary(pod: Object) -> Summary:
    """Return how many containers are ready, why the pod is not running, how often and when it last restarted."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    conditions = status.get("conditions", [])
    reason = status.get("reason") or status.get("phase", "")
    for item in conditions:
        if item.get("type") == "PodScheduled" and item.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    sidecars = {item.get("name", "") for item in spec.get("initContainers", ()) if is_restartable(item)}
    total = len(spec.get("containers", ())) + sum(map(is_restartable, spec.get("initContainers", ())))
    ready = restarts = sidecar_restarts = 0
    last = sidecar_last = ""
    initializing = False
    for index, container in enumerate(status.get("initContainerStatuses", ())):
        count, ended = container.get("restartCount", 0), _ended(container)
        restarts, last = restarts + count, max(last, ended)
        sidecar = container.get("name", "") in sidecars
        if sidecar:
            sidecar_restarts, sidecar_last = sidecar_restarts + count, max(sidecar_last, ended)
        state = container.get("state", {})
        terminated, waiting = state.get("terminated"), state.get("waiting", {}).get("reason")
        if terminated is not None and terminated.get("exitCode", 0) == 0:
            continue
        if sidecar and container.get("started"):
            ready += bool(container.get("ready"))
            continue
        if terminated is not None:
            reason = "Init:" + _end_reason(terminated)
        elif waiting and waiting != "PodInitializing":
            reason = "Init:" + waiting
        else:
            reason = f"Init:{index}/{len(spec.get('initContainers', ()))}"
        initializing = True
        break
    if not initializing or _condition(conditions, "Initialized") == "True":
        restarts, last = sidecar_restarts, sidecar_last
        running, failure = False, ""
        for container in reversed(status.get("containerStatuses", ())):
            restarts, last = restarts + container.get("restartCount", 0), max(last, _ended(container))
            state = container.get("state", {})
            if state.get("waiting", {}).get("reason"):
                reason = state["waiting"]["reason"]
            elif "terminated" in state:
                reason = _end_reason(state["terminated"])
                if state["terminated"].get("exitCode", 0) != 0:
                    failure = reason
            elif container.get("ready") and "running" in state:
                running, ready = True, ready + 1
        # A pod of which one container has completed still runs if another one does.
        if reason == "Completed":
            is_ready = any(i.get("type") == "Ready" and i.get("status") == "True" for i in conditions)
            reason = "Running" if running and is_ready else failure or ("NotReady" if running else reason)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif status.get("phase") not in _TERMINAL:
            reason = "Terminating"
    return Summary(ready, total, reason, restarts, last)


def _ready(pod: Object, now: float) -> str:
    row = summary(pod)
    return f"{row.ready}/{row.total}"


def _restarts(pod: Object, now: float) -> str:
    row = summary(pod)
    if row.restarts and row.last_restart:
        return f"{row.restarts} ({since(row.last_restart, now)} ago)"
    return str(row.restarts)


def address(pod: Object) -> str:
    """Return the first address of a pod, empty if it has none yet."""
    addresses = pod.get("status", {}).get("podIPs")
    return addresses[0].get("ip", "") if addresses else ""


def _gates(pod: Object, now: float) -> str:
    gates = pod.get("spec", {}).get("readinessGates")
    if not gates:
        return "<none>"
    conditions = pod.get("status", {}).get("conditions", [])
    passed = sum(_condition(conditions, gate.get("conditionType", "")) == "True" for gate in gates)
    return f"{passed}/{len(gates)}"


COLUMNS = (
    NAME,
    Column("Ready", _ready, description="How many of the containers are ready."),
    Column(
        "Status", lambda pod, now: summary(pod).reason, description="The state of the containers together."
    ),
    Column("Restarts", _restarts, description="How often containers restarted, and when last."),
    AGE,
    Column("IP", lambda pod, now: address(pod) or "<none>", priority=1),
    Column("Node", lambda pod, now: pod.get("spec", {}).get("nodeName") or "<none>", priority=1),
    Column(
        "Nominated Node",
        lambda pod, now: pod.get("status", {}).get("nominatedNodeName") or "<none>",
        priority=1,
    ),
    Column("Readiness Gates", _gates, priority=1),
)
