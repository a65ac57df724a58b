"""Which daemon pods to make and to delete, and the status: pure functions of what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.api.core.pod.daemon_tolerations import tolerations
from pybernetes.api.core.pod.placement import required_affinity, untolerated
from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import (
    is_available,
    is_ready,
    is_terminal,
    phase,
)
from pybernetes.control_plane.controllers._workload.templates import scaled
from pybernetes.control_plane.controllers.daemonset.template import is_updated, node_of

Fit = Callable[[Object], tuple[bool, bool]]
_BARRED = ("NoSchedule", "NoExecute")


def fitness(daemon_set: Object) -> Fit:
    """Return a test of nodes: whether a daemon should run there, and whether a running one may stay."""
    spec = daemon_set["spec"]["template"].get("spec", {})
    tolerated = tolerations(spec)
    fits = required_affinity(spec)
    only = spec.get("nodeName")

    def test(node: Object) -> tuple[bool, bool]:
        if (only and only != node["metadata"]["name"]) or not fits(node):
            return False, False
        taints = node["spec"].get("taints") if "spec" in node else None
        if not taints or untolerated(taints, tolerated, _BARRED) is None:
            return True, True
        return False, untolerated(taints, tolerated, ("NoExecute",)) is None

    return test


@dataclass(frozen=True)
class PlanInputs:
    """All that a plan depends on. ``held_back`` says for how long a failed pod on a node must be left alone."""

    daemon_set: Object
    nodes: list[Object]
    pods: list[Object]
    hash: str  # of the template of now
    now: float
    held_back: Callable[[str], float]


@dataclass
class Plan:
    """What to do."""

    create: list[str] = field(default_factory=list)  # names of nodes
    delete: list[Object] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # nodes whose failed pod is deleted
    events: list[tuple[str, str, str]] = field(default_factory=list)
    again: float | None = None


def by_node(pods: list[Object]) -> dict[str, list[Object]]:
    """Group daemon pods by their node, without those that have ended and are being deleted."""
    pods_by_node: dict[str, list[Object]] = {}
    for pod in pods:
        if is_terminal(pod) and is_being_deleted(pod):
            continue
        node = node_of(pod)
        if node:
            pods_by_node.setdefault(node, []).append(pod)
    return pods_by_node


def plan(seen: PlanInputs) -> Plan:
    """Decide what to do: first every node gets what it needs, then pods of an old template are replaced."""
    there = by_node(seen.pods)
    fit = fitness(seen.daemon_set)
    result = Plan()
    for node in seen.nodes:
        _manage(seen, node, there.get(node["metadata"]["name"]), fit(node), result)
    names = {node["metadata"]["name"] for node in seen.nodes}
    for name, pods in there.items():
        if name not in names:  # a node that is gone: nobody will ever schedule these
            result.delete += [
                pod for pod in pods if not pod["spec"].get("nodeName") and not is_being_deleted(pod)
            ]
    strategy = seen.daemon_set["spec"].get("updateStrategy", {})
    if not result.create and not result.delete and strategy.get("type") == "RollingUpdate":
        _roll(seen, there, fit, result)
    return result


def _age(pod: Object) -> tuple[bool, str, str]:
    meta = pod["metadata"]
    return not pod["spec"].get("nodeName"), meta.get("creationTimestamp", ""), meta["name"]


def _limits(daemon_set: Object, desired: int) -> tuple[int, int]:
    """Return how many extra pods and how many missing pods are allowed."""
    strategy = daemon_set["spec"].get("updateStrategy", {})
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") != "RollingUpdate" or rolling is None:
        return 0, 0
    return scaled(rolling.get("maxSurge"), desired, up=True), scaled(
        rolling.get("maxUnavailable"), desired, up=True
    )


def _manage(
    seen: PlanInputs, node: Object, pods: list[Object] | None, fit: tuple[bool, bool], result: Plan
) -> None:
    should_run, may_stay = fit
    name = node["metadata"]["name"]
    if should_run and pods is None:
        result.create.append(name)
    elif not may_stay:
        result.delete += [pod for pod in pods or () if not is_being_deleted(pod)]
    else:
        running = _without_ended(seen, name, pods or [], result)
        _thin_out(seen, name, running, should_run, result)


def _without_ended(seen: PlanInputs, node: str, pods: list[Object], result: Plan) -> list[Object]:
    """Return the running pods, deleting those that have ended; failed ones with backoff."""
    running = []
    for pod in pods:
        if is_being_deleted(pod):
            continue
        what = f"daemon pod {pod['metadata']['namespace']}/{pod['metadata']['name']} on node {node}"
        if phase(pod) == "Failed":
            delay = seen.held_back(node)
            if delay > 0:
                result.again = min(delay, result.again or delay)
                continue
            result.events.append(("Warning", "FailedDaemonPod", f"Found failed {what}, will try to kill it"))
            result.failed.append(node)
            result.delete.append(pod)
        elif phase(pod) == "Succeeded":
            text = f"Found succeeded {what}, will try to delete it"
            result.events.append(("Normal", "SucceededDaemonPod", text))
            result.delete.append(pod)
        else:
            running.append(pod)
    return running


def _thin_out(seen: PlanInputs, node: str, running: list[Object], should_run: bool, result: Plan) -> None:
    """Delete all but one pod on a node, or all but one old and one new where they may overlap."""
    running.sort(key=_age)
    if not _limits(seen.daemon_set, 1)[0]:
        result.delete += running[1:]
        return
    if len(running) <= 1:
        if not running and should_run:
            result.create.append(node)
        return
    new = [pod for pod in running if is_hash(pod, seen.hash)]
    old = [pod for pod in running if not is_hash(pod, seen.hash)]
    result.delete += new[1:] + old[1:]
    if new and old:
        if not is_ready(old[0]) or _is_available(seen, new[0]):
            result.delete.append(old[0])


def is_hash(pod: Object, hash_: str) -> bool:
    """Return whether a pod has the hash of a template."""
    return (pod["metadata"].get("labels") or {}).get("controller-revision-hash") == hash_


def _is_available(seen: PlanInputs, pod: Object) -> bool:
    return is_available(pod, seen.daemon_set["spec"].get("minReadySeconds", 0), seen.now)


# -- replacing pods of an old template -------------------------------------------------------------------


def _roll(seen: PlanInputs, there: dict[str, list[Object]], fit: Fit, result: Plan) -> None:
    wanted = {node["metadata"]["name"]: fit(node)[0] for node in seen.nodes}
    desired = sum(wanted.values())
    surge, unavailable = _limits(seen.daemon_set, desired)
    if desired and not surge and not unavailable:
        unavailable = 1
    # Nodes that should have a pod and have none count, too.
    everywhere = {name: there.get(name, []) for name, wants in wanted.items() if wants} | there
    if surge:
        _roll_with_surge(seen, everywhere, wanted, desired, surge, result)
    else:
        _roll_in_place(seen, everywhere, unavailable, result)


def _pair(seen: PlanInputs, pods: list[Object]) -> tuple[Object | None, Object | None] | None:
    """Return the new and the old pod of a node; None if there are too many of one sort."""
    new = old = None
    for pod in pods:
        if is_being_deleted(pod):
            continue
        if is_updated(pod, seen.daemon_set, seen.hash):
            if new is not None:
                return None
            new = pod
        else:
            if old is not None:
                return None
            old = pod
    return new, old


def _roll_in_place(seen: PlanInputs, there: dict[str, list[Object]], limit: int, result: Plan) -> None:
    missing = 0
    free: list[Object] = []
    candidates: list[Object] = []
    for pods in there.values():
        pair = _pair(seen, pods)
        new, old = pair if pair is not None else (None, None)
        if (new is None) == (old is None):
            missing += 1
        elif new is not None:
            missing += not _is_available(seen, new)
        elif old is not None and not _is_available(seen, old):
            free.append(old)  # it is missing anyhow
            missing += 1
        elif old is not None:
            candidates.append(old)
    result.delete += free + candidates[: max(0, limit - missing)]


def _roll_with_surge(
    seen: PlanInputs,
    there: dict[str, list[Object]],
    wanted: dict[str, bool],
    desired: int,
    limit: int,
    result: Plan,
) -> None:
    surging = available = 0
    unwanted: list[Object] = []
    free: list[str] = []
    candidates: list[str] = []
    for name, pods in there.items():
        pair = _pair(seen, pods)
        if pair is None:
            surging += 1
            continue
        new, old = pair
        one = old if old is not None else new
        alive = one is not None and _is_available(seen, one)
        available += alive
        if old is None:
            continue
        if new is not None:
            if _is_available(seen, new):
                result.delete.append(old)
            else:
                surging += 1
        elif not wanted.get(name):
            (unwanted if alive else result.delete).append(old)
        else:
            (candidates if alive else free).append(name)
    result.delete += unwanted[: max(0, available - desired)]
    result.create += free + candidates[: max(0, limit - surging)]


# -- the status ------------------------------------------------------------------------------------------


def status_of(seen: PlanInputs) -> Object:
    """Return the counts of nodes and of the pods on them."""
    daemon_set, there, fit = seen.daemon_set, by_node(seen.pods), fitness(seen.daemon_set)
    desired = current = misplaced = ready = available = updated = 0
    for node in seen.nodes:
        pods = there.get(node["metadata"]["name"])
        if not fit(node)[0]:
            misplaced += bool(pods)
            continue
        desired += 1
        if not pods:
            continue
        current += 1
        pod = min(pods, key=_age)
        if is_ready(pod):
            ready += 1
            available += _is_available(seen, pod)
        updated += is_updated(pod, daemon_set, seen.hash)
    status: Object = {
        "currentNumberScheduled": current,
        "numberMisscheduled": misplaced,
        "desiredNumberScheduled": desired,
        "numberReady": ready,
    }
    more = {
        "observedGeneration": daemon_set["metadata"].get("generation", 0),
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberUnavailable": desired - available,
    }
    status |= {name: value for name, value in more.items() if value}
    old = daemon_set.get("status", {})
    return status | {name: old[name] for name in ("collisionCount", "conditions") if name in old}
