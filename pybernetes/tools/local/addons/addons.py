"""Objects that are applied whenever a local cluster comes up."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    ROLES,
    RUNTIME_CLASSES,
    Ref,
)

FIELD_MANAGER = "pybernetes-addons"
NETWORK_USER = "system:pod-network"
KUBELET_CLIENT = "kube-apiserver-kubelet-client"  # whom kubelets know the API server as
_RBAC = "rbac.authorization.k8s.io"


def role(name: str, user: str, *rules: Object) -> list[tuple[Ref, Object]]:
    """Return a role for a user of the whole cluster."""
    return [
        (CLUSTER_ROLES, {"metadata": {"name": name}, "rules": list(rules)}),
        (CLUSTER_ROLE_BINDINGS, _binding(name, name, user)),
    ]


def namespaced_role(namespace: str, name: str, user: str, *rules: Object) -> list[tuple[Ref, Object]]:
    """Return a role for a user in one namespace."""
    meta = {"name": name, "namespace": namespace}
    binding = _binding(name, name, user, "Role")
    return [
        (ROLES, {"metadata": meta, "rules": list(rules)}),
        (ROLE_BINDINGS, {**binding, "metadata": meta}),
    ]


def _binding(name: str, role_name: str, user: str, kind: str = "ClusterRole") -> Object:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role_name},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
    }


def rule(group: str, *resources: str) -> Object:
    """Return the permission to list and watch resources."""
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["list", "watch"]}


def pod_network() -> list[tuple[Ref, Object]]:
    """Return the objects that permit the pod network of a node what it needs."""
    definition = rule("apiextensions.k8s.io", "customresourcedefinitions")
    rules = (
        rule("", "nodes", "pods", "namespaces"),
        rule("networking.k8s.io", "networkpolicies"),
        rule("policy.networking.k8s.io", "clusternetworkpolicies"),
        # Whether the kind of those is served.
        {**definition, "resourceNames": ["clusternetworkpolicies.policy.networking.k8s.io"]},
    )
    return role("pybernetes:pod-network", NETWORK_USER, *rules)


def kubelet_access() -> list[tuple[Ref, Object]]:
    """Return what permits the API server all of kubelets, and nothing else.

    A node says itself where its kubelet is. Were that the API server's own address, whatever is asked of the kubelet
    would be done there with these rights.
    """
    binding = _binding("pybernetes:kubelet-api-admin", "system:kubelet-api-admin", KUBELET_CLIENT)
    return [(CLUSTER_ROLE_BINDINGS, binding)]


def certificate_renewal() -> list[tuple[Ref, Object]]:
    """Return what permits nodes to renew their own client certificates without anybody's approval."""
    name = "pybernetes:node-autoapprove-certificate-rotation"
    role_name = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"
    binding = _binding(name, role_name, "")
    binding["subjects"] = [{"apiGroup": _RBAC, "kind": "Group", "name": "system:nodes"}]
    return [(CLUSTER_ROLE_BINDINGS, binding)]


def serving_approval(user: str) -> list[tuple[Ref, Object]]:
    """Return what permits the approval of kubelets' serving certificates, and of no others."""
    group, requests = "certificates.k8s.io", "certificatesigningrequests"
    signer = ["kubernetes.io/kubelet-serving"]
    return role(
        user,
        user,
        rule(group, requests),
        {"apiGroups": [group], "resources": [f"{requests}/approval"], "verbs": ["update"]},
        {"apiGroups": [group], "resources": ["signers"], "resourceNames": signer, "verbs": ["approve"]},
    )


def runtime_classes(names: Iterable[str]) -> list[tuple[Ref, Object]]:
    """Return the classes by which pods ask for a program that runs containers."""
    return [(RUNTIME_CLASSES, {"metadata": {"name": name}, "handler": name}) for name in names]


def cloud_access(user: str) -> list[tuple[Ref, Object]]:
    """Return what permits the cloud controller manager what it needs; upstream has no role for it by default."""

    def may(resources: tuple[str, ...], *verbs: str) -> Object:
        return {"apiGroups": [""], "resources": list(resources), "verbs": list(verbs)}

    rules = (
        may(("nodes",), "get", "list", "watch", "update", "patch", "delete"),
        may(("services",), "list", "watch"),
        may(("nodes/status", "services/status"), "patch"),
        may(("events",), "create", "patch", "update"),
    )
    return role(user, user, *rules)


async def apply(client: Client, objects: list[tuple[Ref, Object]]) -> None:
    """Apply the objects, whoever changed them."""
    for kind, obj in objects:
        await client.apply(kind, obj, manager=FIELD_MANAGER, force=True)
