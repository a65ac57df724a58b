"""What a pod as a whole asks for and may use: its containers, its own resources, its overhead."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pybernetes.api import quantity
from pybernetes.api.core.pod.pod_level_resources import add_up, supported_at_pod_level
from pybernetes.api.resource_list import Amounts, ResourceList, add_to, maximum, raise_to
from pybernetes.lib import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

# Returns what to count for a container, from its specification and its status (or None).
Read = Callable[["Object", "Object | None"], Amounts]


def spec_list(container: Object, key: str) -> Amounts:
    """Return the ``requests`` or ``limits`` of a container."""
    return container.get("resources", {}).get(key) or {}


def aggregate(spec: Object, read: Read, statuses: dict[str, Object] | None = None) -> ResourceList:
    """Return the sum over the containers, as ``read`` counts each from its specification and its status."""
    known = statuses or {}
    return add_up(
        spec, lambda container: read(container, known.get(container.get("name", ""))), add_to, raise_to
    )


def _spec(key: str) -> Read:
    return lambda container, status: spec_list(container, key)


def _allocated(infeasible: bool) -> Read:
    def read(container: Object, status: Object | None) -> Amounts:
        if status is not None and status.get("allocatedResources") is not None:
            return status["allocatedResources"]
        return {} if infeasible else spec_list(container, "requests")

    return read


def _actuated(key: str, infeasible: bool) -> Read:
    def read(container: Object, status: Object | None) -> Amounts:
        if status is not None:
            if (status.get("resources") or {}).get(key) is not None:
                return status["resources"][key]
            if key == "requests" and status.get("allocatedResources") is not None:
                return status["allocatedResources"]
        return {} if infeasible else spec_list(container, key)

    return read


def resize_infeasible(pod: Object) -> bool:
    """Return whether the node cannot ever give the pod what it was resized to."""
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition.get("type") == "PodResizePending":
            return condition.get("reason") == "Infeasible"
    return False


def _statuses(pod: Object) -> dict[str, Object]:
    status = pod.get("status", {})
    statuses_by_name: dict[str, Object] = {}
    for key in ("initContainerStatuses", "containerStatuses"):
        statuses_by_name.update(
            {container_status.get("name", ""): container_status for container_status in status.get(key, ())}
        )
    return statuses_by_name


def _containers(pod: Object, key: str) -> ResourceList:
    """Add up the containers; while a pod is resized, the most of wanted, allocated and in force counts."""
    spec = pod.get("spec", {})
    statuses, infeasible = _statuses(pod), resize_infeasible(pod)
    if not statuses and not infeasible:
        return aggregate(spec, _spec(key))
    reads: list[Read] = [] if infeasible else [_spec(key)]
    reads.append(_actuated(key, infeasible))
    if key == "requests":
        reads.append(_allocated(infeasible))
    return maximum(aggregate(spec, read, statuses) for read in reads)


def _own(spec: Object, key: str, total: ResourceList) -> None:
    """Put what is given for the pod as a whole in the place of the sum."""
    for name, amount in ((spec.get("resources") or {}).get(key) or {}).items():
        if supported_at_pod_level(name):
            total[name] = amount


def requests(pod: Object) -> ResourceList:
    """Return what the pod is promised, its overhead included."""
    spec = pod.get("spec", {})
    total = _containers(pod, "requests")
    _own(spec, "requests", total)
    add_to(total, spec.get("overhead") or {})
    return total


def limits(pod: Object) -> ResourceList:
    """Return what the pod may use at most, its overhead included where there is a limit."""
    spec = pod.get("spec", {})
    total = _containers(pod, "limits")
    _own(spec, "limits", total)
    for name, amount in (spec.get("overhead") or {}).items():
        if name in total and quantity.parse(total[name]):
            total[name] = quantity.add(total[name], amount)
    return total


def of_spec(spec: Object, key: str, names: Iterable[str] = ("cpu", "memory")) -> ResourceList:
    """Return the sum of what the specification alone says; these names may be given for the pod as a whole."""
    total = aggregate(spec, _spec(key))
    own = (spec.get("resources") or {}).get(key) or {}
    total.update({name: own[name] for name in names if name in own})
    return total
