"""What a node may do, written down from the documentation of Node authorization, as a graph that is walked every time.

    node ← pod ← secret, config map, claim, service account, resource claim
    node ← pod ← claim ← volume ← secret
    node ← volume attachment, resource slice, pod certificate request

Generated pods and volumes say themselves what they refer to, so that nothing here has to find it out.
"""

from __future__ import annotations

from typing import NamedTuple

Thing = tuple[str, str, str]  # resource, namespace, name
CORE, LEASES, STORAGE, DEVICES, CERTIFICATES = (
    "", "coordination.k8s.io", "storage.k8s.io", "resource.k8s.io", "certificates.k8s.io",
)  # fmt: skip
READ = ("get", "list", "watch")
# What every node may do whatever runs on it: verbs, group, resource.
STATIC = {
    ("authentication.k8s.io", "tokenreviews"): ("create",),
    ("authorization.k8s.io", "subjectaccessreviews"): ("create",),
    ("authorization.k8s.io", "localsubjectaccessreviews"): ("create",),
    ("", "services"): READ,
    ("", "events"): ("create", "update", "patch"),
    ("events.k8s.io", "events"): ("create", "update", "patch"),
    ("", "endpoints"): ("get",),
    ("certificates.k8s.io", "certificatesigningrequests"): (*READ, "create"),
    ("certificates.k8s.io", "clustertrustbundles"): READ,
    ("storage.k8s.io", "csidrivers"): READ,
    ("node.k8s.io", "runtimeclasses"): READ,
}


class Asked(NamedTuple):
    """One question; ``selected`` is the node that a field selector limits the objects to."""

    node: str
    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    selected: str = ""


class Model:
    """Who is bound where, and what refers to what."""

    def __init__(self) -> None:
        self.node_of: dict[Thing, str] = {}  # pods, volume attachments, resource slices, certificate requests
        self.needs: dict[Thing, set[Thing]] = {}  # what pods refer to
        self.claim_of: dict[str, Thing] = {}  # volumes
        self.secrets_of: dict[str, set[Thing]] = {}  # volumes

    def reaches(self, node: str, target: Thing) -> bool:
        """Tell whether a way leads from a target to a node."""
        if self.node_of.get(target) == node:
            return True
        if any(target in needed and self.node_of[pod] == node for pod, needed in self.needs.items()):
            return True
        resource, namespace, name = target
        if resource == "persistentvolumes":
            return not namespace and name in self.claim_of and self.reaches(node, self.claim_of[name])
        if resource == "secrets":
            return any(
                target in secrets and self.reaches(node, ("persistentvolumes", "", volume))
                for volume, secrets in self.secrets_of.items()
            )
        return False

    def allows(self, asked: Asked) -> bool:
        node, verb, group, resource, subresource, namespace, name, selected = asked
        target = (resource, namespace, name)
        related = bool(name) and self.reaches(node, target)
        match group, resource:
            case ("", "secrets" | "configmaps"):
                return verb in READ and not subresource and bool(namespace) and related
            case ("", "persistentvolumeclaims") if subresource == "status":
                return verb in ("update", "patch") and related
            case ("", "persistentvolumeclaims" | "persistentvolumes"):
                return verb == "get" and not subresource and related
            case ("resource.k8s.io", "resourceclaims") | ("storage.k8s.io", "volumeattachments"):
                return verb == "get" and not subresource and related
            case ("", "serviceaccounts"):
                return (
                    related and bool(namespace) and (verb, subresource) in (("get", ""), ("create", "token"))
                )
            case ("coordination.k8s.io", "leases"):
                own = verb in ("get", "update", "patch", "delete") and name == node
                return namespace == "kube-node-lease" and (own or verb == "create")
            case ("storage.k8s.io", "csinodes"):
                own = verb in ("get", "update", "patch", "delete") and name == node
                return not subresource and (own or verb == "create")
            case ("resource.k8s.io", "resourceslices"):
                if subresource:
                    return False
                if verb in ("list", "watch", "deletecollection"):
                    return selected == node
                return verb == "create" or (verb in ("get", "update", "patch", "delete") and related)
            case ("certificates.k8s.io", "podcertificaterequests"):
                if subresource:
                    return False
                if verb in ("list", "watch"):
                    return selected == node
                return verb == "create" or (verb == "get" and related)
            case ("", "nodes"):
                if subresource:
                    return subresource == "status" and verb in ("update", "patch")
                return verb in ("create", "update", "patch") or (verb in READ and name == node)
            case ("", "pods"):
                if subresource:
                    writes = ("status", "update"), ("status", "patch"), ("eviction", "create")
                    return (subresource, verb) in writes
                if verb in ("list", "watch"):
                    return selected == node or related
                return verb in ("create", "delete") or (verb == "get" and related)
        return not subresource and verb in STATIC.get((group, resource), ())
