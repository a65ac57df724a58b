"""Roles and bindings as kubeadm writes them."""

from __future__ import annotations

from pybernetes.api.resource import Object

_GROUP = "rbac.authorization.k8s.io"


def group(name: str) -> Object:
    """Return a group as a subject."""
    return {"kind": "Group", "apiGroup": _GROUP, "name": name}


def user(name: str) -> Object:
    """Return a user as a subject."""
    return {"kind": "User", "apiGroup": _GROUP, "name": name}


def account(name: str, namespace: str) -> Object:
    """Return a service account as a subject."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def cluster_binding(name: str, role: str, *subjects: Object) -> Object:
    """Return a binding of a role for the whole cluster."""
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": role},
        "subjects": list(subjects),
    }


def cluster_role(name: str, *rules: Object) -> Object:
    """Return a role for the whole cluster."""
    return {"metadata": {"name": name}, "rules": list(rules)}


def rule(verbs: tuple[str, ...], api_group: str, *resources: str, names: tuple[str, ...] = ()) -> Object:
    """Return a rule of a role."""
    result: Object = {"verbs": list(verbs), "apiGroups": [api_group], "resources": list(resources)}
    return {**result, "resourceNames": list(names)} if names else result


def read_one(name: str, namespace: str, resource: str, of: str) -> Object:
    """Return the role to read one object."""
    return {
        "metadata": {"name": name, "namespace": namespace},
        "rules": [rule(("get",), "", resource, names=(of,))],
    }


def binding(name: str, namespace: str, *subjects: Object) -> Object:
    """Return a binding of the role of the same name."""
    return {
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": name},
        "subjects": list(subjects),
    }
