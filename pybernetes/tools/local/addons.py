"""Objects that are applied whenever a local cluster comes up."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, Ref

FIELD_MANAGER = "pybernetes-addons"
NETWORK_USER = "system:pod-network"
_RBAC = "rbac.authorization.k8s.io"


def role(name: str, user: str, *rules: Object) -> list[tuple[Ref, Object]]:
    """Return a role for a user of the whole cluster."""
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
    }
    return [
        (CLUSTER_ROLES, {"metadata": {"name": name}, "rules": list(rules)}),
        (CLUSTER_ROLE_BINDINGS, binding),
    ]


def rule(group: str, *resources: str) -> Object:
    """Return the permission to list and watch resources."""
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["list", "watch"]}


def pod_network() -> list[tuple[Ref, Object]]:
    """Return the objects that permit the pod network of a node what it needs."""
    return role("pybernetes:pod-network", NETWORK_USER, rule("", "nodes"))


async def apply(client: Client, objects: list[tuple[Ref, Object]]) -> None:
    """Apply the objects, whoever changed them."""
    for kind, obj in objects:
        await client.apply(kind, obj, manager=FIELD_MANAGER, force=True)
