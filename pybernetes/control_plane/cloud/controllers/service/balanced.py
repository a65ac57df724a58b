"""Which services and which nodes a load balancer is about, and what of them it depends on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.controllers._shared import taints
from pybernetes.control_plane.cloud.provider import Ingress
from pybernetes.lib.flags import boolean

FINALIZER = "service.kubernetes.io/load-balancer-cleanup"
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
# What of a service's specification a load balancer is made of.
_FIELDS = ("type", "loadBalancerClass", "loadBalancerSourceRanges", "ports", "sessionAffinity", "sessionAffinityConfig",
           "loadBalancerIP", "externalIPs", "externalTrafficPolicy", "healthCheckNodePort", "ipFamilies")  # fmt: skip
_MOST_NAMES = 20


def wants_load_balancer(service: Object) -> bool:
    """Return whether a service is to have a load balancer of this cloud; a class leaves it to somebody else."""
    spec = service["spec"]
    return spec.get("type") == "LoadBalancer" and spec.get("loadBalancerClass") is None


def has_finalizer(service: Object) -> bool:
    """Return whether a service waits for its load balancer to go before it goes itself."""
    return FINALIZER in (service["metadata"].get("finalizers") or ())


def needs_cleanup(service: Object) -> bool:
    """Return whether a load balancer that was made for a service has to go."""
    gone = "deletionTimestamp" in service["metadata"] or service["spec"].get("type") != "LoadBalancer"
    return has_finalizer(service) and gone


def essence(service: Object) -> Object:
    """Return what of a service makes its load balancer what it is."""
    spec, meta = service["spec"], service["metadata"]
    return {
        "uid": meta["uid"],
        "annotations": meta.get("annotations") or {},
        "deleted": "deletionTimestamp" in meta,
        **{name: spec.get(name) for name in _FIELDS},
    }


def is_included(node: Object) -> bool:
    """Return whether a node may stand behind load balancers: it has no label against it, nor is it about to go."""
    meta = node["metadata"]
    excluded = (meta.get("labels") or {}).get(EXCLUDED)
    if excluded is not None:
        try:
            if boolean(excluded):
                return False
        except ValueError:
            return False
    going = any(taint["key"] == TO_BE_DELETED for taint in taints(node))
    return "deletionTimestamp" not in meta and not going


def facts(nodes: Iterable[Object]) -> dict[str, Object]:
    """Return what a load balancer depends on of the nodes behind it, by their names."""
    return {
        node["metadata"]["name"]: {
            "providerID": (node.get("spec") or {}).get("providerID", ""),
            "labels": node["metadata"].get("labels") or {},
            "addresses": (node.get("status") or {}).get("addresses") or [],
        }
        for node in nodes
    }


def listed(names: Iterable[str]) -> str:
    """Return names of nodes as messages list them."""
    ordered = sorted(names)
    more = [f"<{len(ordered) - _MOST_NAMES} more>"] if len(ordered) > _MOST_NAMES else []
    return f"[{' '.join(ordered[:_MOST_NAMES] + more)}]"


def shortage(service: Object, ingresses: Sequence[Ingress]) -> str:
    """Return what a service lacks of what its cloud gave it; empty if it has all."""
    if not any(ingress.ip or ingress.hostname for ingress in ingresses):
        return "the cloud gave it no address"
    families = service["spec"].get("ipFamilies") or ()
    if service["spec"].get("ipFamilyPolicy") != "RequireDualStack" or any(
        entry.hostname for entry in ingresses
    ):
        return ""
    given = {"IPv6" if ":" in ingress.ip else "IPv4" for ingress in ingresses if ingress.ip}
    missing = [family for family in families if family not in given]
    return f"the cloud gave it no address of family {', '.join(missing)}" if missing else ""
