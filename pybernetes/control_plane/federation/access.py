"""What the control plane of a federation may do in its host, and nothing else."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, Ref
from pybernetes.control_plane.federation.kinds import COMPONENT, CORE_GROUP, SCHEDULING_GROUP, TYPES_GROUP

USER = f"system:{COMPONENT}"
_RBAC = "rbac.authorization.k8s.io"
_READ = ["get", "list", "watch"]


def rules() -> list[Object]:
    """Return what it may do in all namespaces: with federated objects, and with what it remembers of them."""
    versions = ["propagatedversions", "clusterpropagatedversions"]
    return [
        {"apiGroups": [TYPES_GROUP], "resources": ["*"], "verbs": [*_READ, "patch"]},
        {"apiGroups": [SCHEDULING_GROUP], "resources": ["*"], "verbs": _READ},
        {"apiGroups": [CORE_GROUP], "resources": versions, "verbs": [*_READ, "create"]},
        {"apiGroups": [CORE_GROUP], "resources": [f"{name}/status" for name in versions], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    ]


def own_rules() -> list[Object]:
    """Return what it may do in its own namespace: with clusters, their tokens, and its lease."""
    kinds = ["kubefedclusters", "federatedtypeconfigs"]
    leases: Object = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    return [
        {"apiGroups": [CORE_GROUP], "resources": [*kinds, "kubefedconfigs"], "verbs": _READ},
        {"apiGroups": [CORE_GROUP], "resources": [f"{name}/status" for name in kinds], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": [*_READ, "patch"]},
        {**leases, "verbs": ["create"]},
        {**leases, "resourceNames": [COMPONENT], "verbs": ["get", "update"]},
    ]


def access(namespace: str, user: str = USER) -> list[tuple[Ref, Object]]:
    """Return the roles of the control plane in its host."""
    subjects = [{"apiGroup": _RBAC, "kind": "User", "name": user}]
    whole, own = {"name": COMPONENT}, {"name": COMPONENT, "namespace": namespace}
    cluster_role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": COMPONENT}
    return [
        (CLUSTER_ROLES, {"metadata": whole, "rules": rules()}),
        (CLUSTER_ROLE_BINDINGS, {"metadata": whole, "roleRef": cluster_role, "subjects": subjects}),
        (ROLES, {"metadata": own, "rules": own_rules()}),
        (ROLE_BINDINGS, {"metadata": own, "roleRef": {**cluster_role, "kind": "Role"}, "subjects": subjects}),
    ]
