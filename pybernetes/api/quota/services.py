"""Services: their number, and that of their node ports and load balancers."""

from __future__ import annotations

from pybernetes.api.quota.evaluator import Evaluator
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList

_COUNTED_TYPES = ("NodePort", "LoadBalancer")


def _type(service: Object) -> str:
    return service.get("spec", {}).get("type", "")


class ServiceEvaluator(Evaluator):
    """Measures services."""

    def __init__(self) -> None:
        super().__init__("", "services")
        self.names |= {"services", "services.nodeports", "services.loadbalancers"}

    def handles(self, operation: str, subresource: str, new: Object, old: Object | None) -> bool:
        return operation in ("CREATE", "UPDATE") and not subresource

    def usage(self, obj: Object, now: float) -> ResourceList:
        spec, type_ = obj.get("spec", {}), _type(obj)
        ports = spec.get("ports") or ()
        counted = len(ports) if type_ in _COUNTED_TYPES else 0
        if type_ == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
            counted = sum(1 for port in ports if port.get("nodePort"))
        return {
            self.count: "1",
            "services": "1",
            "services.nodeports": str(counted),
            "services.loadbalancers": "1" if type_ == "LoadBalancer" else "0",
        }

    def gives_back(self, new: Object, old: Object, now: float) -> bool:
        before, after = (_type(service) if _type(service) in _COUNTED_TYPES else "" for service in (old, new))
        return before != after
