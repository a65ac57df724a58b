"""In-place resize: what was allocated to a pod, what is in force, and what is still to be done.

A container is *allocated* what the node agreed to; what is in force follows, in place where the container's policy
allows it and with a restart where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList, add_to
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState, PodRuntime

_GROUPS = ("initContainers", "containers")
_RESIZABLE = ("cpu", "memory")


def resources_of(pod: Object) -> dict[str, Object]:
    """Return the resources of a pod's containers by name."""
    return {
        container["name"]: container.get("resources") or {}
        for group in _GROUPS
        for container in pod["spec"].get(group, ())
    }


def with_resources(pod: Object, allocated: Mapping[str, Object]) -> Object:
    """Return the pod with the resources that its containers were allocated."""
    if all(allocated.get(name, current) == current for name, current in resources_of(pod).items()):
        return pod
    spec = dict(pod["spec"])
    for group in _GROUPS:
        if group in spec:
            spec[group] = [
                {**container, "resources": allocated.get(container["name"], container.get("resources") or {})}
                for container in spec[group]
            ]
    return {**pod, "spec": spec}


def resize_refusal(
    pod: Object, allocatable: Mapping[str, str], others: Iterable[Object]
) -> tuple[str, str] | None:
    """Return why the node does not give a pod what it requests: never (Infeasible) or not now (Deferred)."""
    used: ResourceList = {}
    for other in others:
        add_to(used, resource_totals.requests({"spec": other["spec"]}))
    requested = resource_totals.requests({"spec": pod["spec"]})
    later = None
    for name in _RESIZABLE:
        if name not in requested or name not in allocatable:
            continue
        scale = 1000 if name == "cpu" else 1
        want, have, taken = (
            int(quantity.parse(amount) * scale)
            for amount in (requested[name], allocatable[name], used.get(name, "0"))
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


def changed_resources(before: Object, after: Object) -> set[str]:
    """Return the names of the resources that differ."""
    return {
        name
        for name in _RESIZABLE
        for kind in ("requests", "limits")
        if (before.get(kind) or {}).get(name) != (after.get(kind) or {}).get(name)
    }


def needs_restart(container: Object, changed: set[str]) -> bool:
    """Return whether a change of these resources restarts the container."""
    return any(
        policy["resourceName"] in changed and policy["restartPolicy"] == "RestartContainer"
        for policy in container.get("resizePolicy", ())
    )


class Allocation:
    """What was allocated to one pod, and what is in force."""

    def __init__(self, pod: Object) -> None:
        self.allocated: dict[str, Object] = {}
        self.in_force: dict[str, Object] = {}  # by id of the run
        self.pending: tuple[str, str] | None = None
        self.problem = ""
        self._restore(pod)

    def _restore(self, pod: Object) -> None:
        """Take over what was allocated before, as the pod's status has it; a new pod gets what it requests."""
        wanted = resources_of(pod)
        status = pod.get("status", {})
        for key in ("initContainerStatuses", "containerStatuses"):
            for container in status.get(key, ()):
                known = container.get("resources")
                if known is not None and container["name"] in wanted and "containerID" in container:
                    self.allocated[container["name"]] = known
                    self.in_force[container["containerID"].rpartition("/")[2]] = known
        self.allocated = {**wanted, **self.allocated}

    def consider(
        self, pod: Object, runtime: PodRuntime, allocatable: Mapping[str, str], others: Iterable[Object]
    ) -> bool:
        """Allocate what the pod requests if that changed and is available; return True if it was done."""
        wanted = resources_of(pod)
        if wanted == self.allocated:
            self.pending = None
            return False
        self.pending = resize_refusal(pod, allocatable, others) if runtime.runs else None
        if self.pending is None:
            self.allocated = wanted
        return self.pending is None

    def due(self, pod: Object, runtime: PodRuntime) -> list[tuple[str, Object, set[str]]]:
        """Return the runs that do not have what was allocated: id, container, names of resources."""
        changes = []
        for group in _GROUPS:
            for container in pod["spec"].get(group, ()):
                run = runtime.current(container["name"])
                if run is None or run.state is not ContainerState.RUNNING:
                    continue
                before = self.in_force.setdefault(run.id, self.allocated[container["name"]])
                changed = changed_resources(before, self.allocated[container["name"]])
                if changed:
                    changes.append((run.id, container, changed))
        return changes

    def shown(self, runtime: PodRuntime) -> dict[str, Object]:
        """Return what is in force by name of the container, for its status."""
        return {
            run.name: self.in_force[run.id]
            for run in runtime.runs
            if run.state is ContainerState.RUNNING and run.id in self.in_force
        }

    def conditions(self, pod: Object, runtime: PodRuntime) -> tuple[Object, ...]:
        """Return what the pod's status says about a resize that is not complete."""
        conditions: list[Object] = []
        if self.pending is not None:
            reason, message = self.pending
            conditions.append(
                {"type": "PodResizePending", "status": "True", "reason": reason, "message": message}
            )
        if self.due(pod, runtime):
            condition: Object = {"type": "PodResizeInProgress", "status": "True"}
            if self.problem:
                condition |= {"reason": "Error", "message": self.problem}
            conditions.append(condition)
        return tuple(conditions)
