"""Pods: their number and what their containers ask for, while they have not ended."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.core.pod import resource_totals
from pybernetes.api.core.pod.pod_level_resources import pod_level_set
from pybernetes.api.core.pod.qos_class import pod_qos_class
from pybernetes.api.quota.evaluator import Evaluator, selects
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import Amounts, ResourceList
from pybernetes.api.table import epoch
from pybernetes.api.validation import resources

DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_NAMES = frozenset(
    {"count/pods", "pods", *_COMPUTE}
    | {f"{prefix}.{name}" for prefix in ("requests", "limits") for name in _COMPUTE}
)
# Where a quota limits one of these, every container has to ask for it.
_REQUIRED = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_ENDED = ("Failed", "Succeeded")


def is_extended_request(name: str) -> bool:
    """Return whether a quota's resource is the requests for an extended resource."""
    if not name.startswith("requests."):
        return False
    return not resources.is_native(name) or name.startswith(f"requests.{DEVICE_CLASS}")


def is_terminating(pod: Object) -> bool:
    """Return whether the pod is bound to end by itself."""
    seconds = pod.get("spec", {}).get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def counts(pod: Object, now: float) -> bool:
    """Return whether the pod may still use something: it has not ended and is not overdue to be deleted."""
    meta = pod["metadata"]
    if pod.get("status", {}).get("phase") in _ENDED:
        return False
    if meta.get("deletionTimestamp") and meta.get("deletionGracePeriodSeconds") is not None:
        return now <= epoch(meta["deletionTimestamp"]) + meta["deletionGracePeriodSeconds"]
    return True


def compute_usage(requests: Amounts, limits: Amounts) -> ResourceList:
    """Return requests and limits under the names that quotas have for them."""
    result: ResourceList = {"pods": "1"}
    for name in _COMPUTE:
        if name in requests:
            result[name] = result[f"requests.{name}"] = requests[name]
        if name in limits:
            result[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith("hugepages-"):
            result[name] = result[f"requests.{name}"] = amount
        if resources.is_extended(name) or name.startswith(DEVICE_CLASS):
            result[f"requests.{name}"] = amount
    return result


def _crosses_namespaces(pod: Object) -> bool:
    affinity = pod.get("spec", {}).get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            terms.append(weighted.get("podAffinityTerm", {}))
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


class PodEvaluator(Evaluator):
    """Measures pods."""

    def __init__(self) -> None:
        super().__init__("", "pods")
        self.names = _NAMES

    subresources = ("resize",)

    def handles(self, operation: str, subresource: str, new: Object, old: Object | None) -> bool:
        if subresource == "resize":
            return operation == "UPDATE"
        if subresource:
            return False
        if operation == "UPDATE":
            return old is not None and is_terminating(new) != is_terminating(old)
        return operation == "CREATE"

    def matching(self, names: Iterable[str]) -> list[str]:
        prefixes = ("hugepages-", "requests.hugepages-")
        return sorted(
            name for name in names if name in _NAMES or name.startswith(prefixes) or is_extended_request(name)
        )

    def constraint(self, required: Iterable[str], obj: Object) -> str:
        spec = obj["spec"]
        wanted = _REQUIRED.intersection(required)
        if not wanted or pod_level_set(spec):
            return ""
        missing: dict[str, set[str]] = {}
        for container in [*spec.get("containers", ()), *spec.get("initContainers", ())]:
            requests, limits = (resource_totals.spec_list(container, key) for key in ("requests", "limits"))
            for name in wanted - compute_usage(requests, limits).keys():
                missing.setdefault(name, set()).add(container.get("name", ""))
        if not missing:
            return ""
        return "must specify " + "; ".join(
            f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing)
        )

    def in_scope(self, scope: Object, obj: Object) -> bool:
        match scope.get("scopeName"):
            case "Terminating":
                return is_terminating(obj)
            case "NotTerminating":
                return not is_terminating(obj)
            case "BestEffort":
                return pod_qos_class(obj) == "BestEffort"
            case "NotBestEffort":
                return pod_qos_class(obj) != "BestEffort"
            case "PriorityClass":
                name = obj.get("spec", {}).get("priorityClassName")
                return selects(scope, [name] if name else [])
            case "CrossNamespacePodAffinity":
                return _crosses_namespaces(obj)
        return False

    def usage(self, obj: Object, now: float) -> ResourceList:
        # Stored objects are counted whatever has become of them.
        result: ResourceList = {self.count: "1"}
        if counts(obj, now):
            result.update(compute_usage(resource_totals.requests(obj), resource_totals.limits(obj)))
        return result

    def gives_back(self, new: Object, old: Object, now: float) -> bool:
        if is_terminating(new) != is_terminating(old) or _resized(new, old):
            return True
        return counts(old, now) and not counts(new, now)


def _resized(new: Object, old: Object) -> bool:
    for key in ("containerStatuses", "initContainerStatuses"):
        after = {status.get("name"): status for status in new.get("status", {}).get(key) or ()}
        for before in old.get("status", {}).get(key) or ():
            now = after.get(before.get("name"))
            if now is not None and now.get("resources") != before.get("resources"):
                return True
    return False
