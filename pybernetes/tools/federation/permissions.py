"""What the control plane may do in a member: no more than the kinds that are federated need."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    ROLES,
    Ref,
)
from pybernetes.control_plane.federation.kinds import COMPONENT
from pybernetes.control_plane.federation.type_config import TypeConfig

_RBAC = "rbac.authorization.k8s.io"
_VERBS = ["get", "list", "watch", "create", "update", "patch", "delete"]
_SCALED = ("deployments", "replicasets")


def service_account(cluster: str, host: str) -> str:
    """Return the name of the account that a host's control plane has in a member."""
    return f"{cluster}-{host}"


def rules(types: Iterable[TypeConfig], *, namespaced: bool | None = None) -> list[Object]:
    """Return what federated kinds need: all of them, or those that have a namespace or have none."""
    result: list[Object] = []
    for config in sorted(set(types), key=lambda config: config.name):
        target = config.target
        if namespaced is not None and target.namespaced != namespaced:
            continue
        result.append({"apiGroups": [target.group], "resources": [target.plural], "verbs": _VERBS})
        if target.group == _RBAC:
            # A server lets nobody give away rights that they do not have, unless they may do so by name.
            if target.plural in ("roles", "clusterroles"):
                result.append({"apiGroups": [_RBAC], "resources": [target.plural], "verbs": ["escalate"]})
            else:
                result.append(
                    {"apiGroups": [_RBAC], "resources": ["roles", "clusterroles"], "verbs": ["bind"]}
                )
        if target.group == "apps" and target.plural in _SCALED:
            pods: Object = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
            if pods not in result:
                result.append(pods)
    return result


def health_rules() -> list[Object]:
    """Return what the look at a cluster's health needs."""
    return [
        {"nonResourceURLs": ["/healthz", "/version"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]},
        # Whether it has the kinds of the multi-cluster services API.
        {
            "apiGroups": ["apiextensions.k8s.io"],
            "resources": ["customresourcedefinitions"],
            "verbs": ["list", "watch"],
        },
    ]


def objects(
    account: str, namespace: str, types: Iterable[TypeConfig], *, one_namespace: bool
) -> list[tuple[Ref, Object]]:
    """Return the roles and bindings of the control plane's account in a member."""
    name = f"{COMPONENT}:{account}"
    health = f"{COMPONENT}:{namespace}:healthcheck-{account}"
    own = f"{COMPONENT}:{account}:token"
    types = list(types)
    renewal: Object = {
        "apiGroups": [""], "resources": ["serviceaccounts/token"], "resourceNames": [account], "verbs": ["create"],
    }  # fmt: skip
    result = [*cluster_role(health, account, namespace, health_rules())] if one_namespace else []
    if one_namespace:
        result += _role(name, account, namespace, rules(types, namespaced=True))
    else:
        result += cluster_role(name, account, namespace, [*rules(types), *health_rules()])
    return [*result, *_role(own, account, namespace, [renewal])]


def _subject(account: str, namespace: str) -> list[Object]:
    return [{"kind": "ServiceAccount", "name": account, "namespace": namespace}]


def cluster_role(name: str, account: str, namespace: str, granted: list[Object]) -> list[tuple[Ref, Object]]:
    """Return a role for a whole cluster, and its binding to the control plane's account."""
    ref = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name}
    meta = {"name": name}
    return [
        (CLUSTER_ROLES, {"metadata": meta, "rules": granted}),
        (CLUSTER_ROLE_BINDINGS, {"metadata": meta, "roleRef": ref, "subjects": _subject(account, namespace)}),
    ]


def _role(name: str, account: str, namespace: str, granted: list[Object]) -> list[tuple[Ref, Object]]:
    ref = {"apiGroup": _RBAC, "kind": "Role", "name": name}
    meta = {"name": name, "namespace": namespace}
    return [
        (ROLES, {"metadata": meta, "rules": granted}),
        (ROLE_BINDINGS, {"metadata": meta, "roleRef": ref, "subjects": _subject(account, namespace)}),
    ]
