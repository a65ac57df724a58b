"""ResourceClaims: their number, and the devices of each class that they may get."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pybernetes.api import quantity
from pybernetes.api.quota.evaluator import Evaluator
from pybernetes.api.quota.pods import DEVICE_CLASS, PodEvaluator, is_extended_request
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList

GROUP = "resource.k8s.io"
_DEVICES = ".deviceclass.resource.k8s.io/devices"
_IMPLICIT = f"requests.{DEVICE_CLASS}"
_OF_EXTENDED = "resource.kubernetes.io/extended-resource-claim"
# A claim for all devices that match cannot get more than this.
_ALL = 32


class Cluster(Protocol):
    """The other objects that a claim's usage depends on."""

    def device_classes(self) -> Iterable[Object]: ...

    def pod(self, namespace: str, name: str) -> Object | None: ...

    def claims(self, namespace: str) -> Iterable[Object]: ...


def _number(request: Object) -> int:
    match request.get("allocationMode"):
        case "ExactCount":
            return request.get("count", 0)
        case "All":
            return _ALL
    return 0


def _owner(claim: Object) -> Object | None:
    """Return the pod for whose extended resources the claim was made."""
    meta = claim["metadata"]
    if (meta.get("annotations") or {}).get(_OF_EXTENDED) != "true":
        return None
    for reference in meta.get("ownerReferences") or ():
        if reference.get("controller"):
            return (
                reference if (reference.get("apiVersion"), reference.get("kind")) == ("v1", "Pod") else None
            )
    return None


class ResourceClaimEvaluator(Evaluator):
    """Measures claims for devices."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(GROUP, "resourceclaims")
        self._cluster = cluster
        self._pods = PodEvaluator()

    def handles(self, operation: str, subresource: str, new: Object, old: Object | None) -> bool:
        return operation in ("CREATE", "UPDATE") and not subresource

    def matching(self, names: Iterable[str]) -> list[str]:
        return sorted(name for name in names if self._matches(name))

    def _matches(self, name: str) -> bool:
        if name == self.count or name.endswith(_DEVICES):
            return True
        if not is_extended_request(name):
            return False
        extended = self._extended()
        if name.startswith(_IMPLICIT):
            return name.removeprefix(_IMPLICIT) in extended
        return name.removeprefix("requests.") in extended.values()

    def _extended(self) -> dict[str, str | None]:
        """Return the extended resource that each device class stands for, if it does."""
        return {
            class_["metadata"]["name"]: class_.get("spec", {}).get("extendedResourceName")
            for class_ in self._cluster.device_classes()
        }

    def usage(self, obj: Object, now: float) -> ResourceList:
        devices: dict[str, int] = {}
        for request in obj.get("spec", {}).get("devices", {}).get("requests") or ():
            # Of alternatives, each class counts with the most that it could be asked for.
            choices = request.get("firstAvailable") or [request.get("exactly") or {}]
            most: dict[str, int] = {}
            for choice in choices:
                class_ = choice.get("deviceClassName")
                if class_:
                    most[class_] = max(most.get(class_, 0), _number(choice))
            for class_, number in most.items():
                devices[class_] = devices.get(class_, 0) + number
        result: ResourceList = {self.count: "1"}
        result |= {class_ + _DEVICES: str(number) for class_, number in devices.items()}
        self._add_extended(obj, devices, result, now)
        return result

    def _add_extended(self, claim: Object, devices: dict[str, int], result: ResourceList, now: float) -> None:
        """Return the same devices as extended resources, less what the pod of the claim is charged for already."""
        if not devices:
            return
        extended = self._extended()
        charged = self._charged_to_pod(claim, now)
        for class_, number in devices.items():
            names = [_IMPLICIT + class_]
            if extended.get(class_):
                names.append(f"requests.{extended[class_]}")
            for name in names:
                rest = quantity.subtract(str(number), charged.get(name, "0"))
                if quantity.parse(rest) > 0:
                    result[name] = rest

    def _charged_to_pod(self, claim: Object, now: float) -> ResourceList:
        owner = _owner(claim)
        if owner is None:
            return {}
        meta = claim["metadata"]
        namespace = meta.get("namespace", "")
        pod = self._cluster.pod(namespace, owner.get("name", ""))
        if pod is None or pod["metadata"].get("uid") != owner.get("uid"):
            return {}
        status = pod.get("status", {}).get("extendedResourceClaimStatus")
        if status is not None:
            if status.get("resourceClaimName") != meta.get("name"):
                return {}
        elif not self._is_first(claim, owner, namespace):
            return {}
        return self._pods.usage(pod, now)

    def _is_first(self, claim: Object, owner: Object, namespace: str) -> bool:
        def age(candidate: Object) -> tuple[str, str]:
            return candidate["metadata"].get("creationTimestamp") or "", candidate["metadata"].get("name", "")

        for other in self._cluster.claims(namespace):
            its_owner = _owner(other)
            if its_owner is not None and its_owner.get("uid") == owner.get("uid") and age(other) < age(claim):
                return False
        return True
