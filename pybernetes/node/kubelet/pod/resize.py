"""Changes of a running pod's resources: what it was given, what is in force, and what is still to be done.

A container is *allocated* what the node agreed to; what is in force follows, in place where the container's policy
allows it and with a restart where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource_list import ResourceList, add_to
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState, PodRuntime

Fields = dict[str, Any]
_GROUPS = ("initContainers", "containers")
_RESIZABLE = ("cpu", "memory")


def resources_of(pod: Fields) -> dict[str, Fields]:
    """The resources of a pod's containers by name."""
    return {
        each["name"]: each.get("resources") or {} for group in _GROUPS for each in pod["spec"].get(group, ())
    }


def with_resources(pod: Fields, allocated: Mapping[str, Fields]) -> Fields:
    """The pod with the resources that its containers were given."""
    if all(allocated.get(name, found) == found for name, found in resources_of(pod).items()):
        return pod
    spec = dict(pod["spec"])
    for group in _GROUPS:
        if group in spec:
            spec[group] = [
                {**each, "resources": allocated.get(each["name"], each.get("resources") or {})}
                for each in spec[group]
            ]
    return {**pod, "spec": spec}


def verdict(pod: Fields, allocatable: Mapping[str, str], others: Iterable[Fields]) -> tuple[str, str] | None:
    """Why the node does not give a pod what it asks for: never (Infeasible) or not now (Deferred)."""
    used: ResourceList = {}
    for other in others:
        add_to(used, resource_totals.requests({"spec": other["spec"]}))
    asked = resource_totals.requests({"spec": pod["spec"]})
    later = None
    for name in _RESIZABLE:
        if name not in asked or name not in allocatable:
            continue
        scale = 1000 if name == "cpu" else 1
        want, have, taken = (
            int(quantity.parse(each) * scale)
            for each in (asked[name], allocatable[name], used.get(name, "0"))
        )
        if want > have:
            return (
                "Infeasible",
                f"Node didn't have enough capacity: {name}, requested: {want}, capacity: {have}",
            )
        if want + taken > have and later is None:
            later = (
                "Deferred",
                f"Node didn't have enough resource: {name}, requested: {want}, used: {taken}, capacity: {have}",
            )
    return later


def changed_resources(before: Fields, after: Fields) -> set[str]:
    """The names of the resources that differ."""
    return {
        name
        for name in _RESIZABLE
        for kind in ("requests", "limits")
        if (before.get(kind) or {}).get(name) != (after.get(kind) or {}).get(name)
    }


def needs_restart(container: Fields, changed: set[str]) -> bool:
    """Whether a change of these resources restarts the container."""
    return any(
        policy["resourceName"] in changed and policy["restartPolicy"] == "RestartContainer"
        for policy in container.get("resizePolicy", ())
    )


class Allocation:
    """What one pod was given and what is in force."""

    def __init__(self, pod: Fields) -> None:
        self.allocated: dict[str, Fields] = {}
        self.in_force: dict[str, Fields] = {}  # by id of the run
        self.pending: tuple[str, str] | None = None
        self.problem = ""
        self._recall(pod)

    def _recall(self, pod: Fields) -> None:
        """What the pod was given before, as its status has it; a new one is given what it asks for."""
        wanted = resources_of(pod)
        status = pod.get("status", {})
        for key in ("initContainerStatuses", "containerStatuses"):
            for each in status.get(key, ()):
                known = each.get("resources")
                if known is not None and each["name"] in wanted and "containerID" in each:
                    self.allocated[each["name"]] = known
                    self.in_force[each["containerID"].rpartition("/")[2]] = known
        self.allocated = {**wanted, **self.allocated}

    def consider(
        self, pod: Fields, runtime: PodRuntime, allocatable: Mapping[str, str], others: Iterable[Fields]
    ) -> bool:
        """Gives the pod what it asks for, if it asks for something else and that is there; True if it did."""
        wanted = resources_of(pod)
        if wanted == self.allocated:
            self.pending = None
            return False
        self.pending = verdict(pod, allocatable, others) if runtime.runs else None
        if self.pending is None:
            self.allocated = wanted
        return self.pending is None

    def due(self, pod: Fields, runtime: PodRuntime) -> list[tuple[str, Fields, set[str]]]:
        """The runs that are not given what they should have: id, container, names of resources."""
        found = []
        for group in _GROUPS:
            for container in pod["spec"].get(group, ()):
                run = runtime.current(container["name"])
                if run is None or run.state is not ContainerState.RUNNING:
                    continue
                before = self.in_force.setdefault(run.id, self.allocated[container["name"]])
                changed = changed_resources(before, self.allocated[container["name"]])
                if changed:
                    found.append((run.id, container, changed))
        return found

    def shown(self, runtime: PodRuntime) -> dict[str, Fields]:
        """What is in force by name of the container, for its status."""
        return {
            run.name: self.in_force[run.id]
            for run in runtime.runs
            if run.state is ContainerState.RUNNING and run.id in self.in_force
        }

    def conditions(self, pod: Fields, runtime: PodRuntime) -> tuple[Fields, ...]:
        """What the pod's status says about a change that is not through."""
        found: list[Fields] = []
        if self.pending is not None:
            reason, message = self.pending
            found.append({"type": "PodResizePending", "status": "True", "reason": reason, "message": message})
        if self.due(pod, runtime):
            condition: Fields = {"type": "PodResizeInProgress", "status": "True"}
            if self.problem:
                condition |= {"reason": "Error", "message": self.problem}
            found.append(condition)
        return tuple(found)
