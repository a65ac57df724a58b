"""The resources that every server has, for commands that need not ask which there are."""

from __future__ import annotations

from pybernetes.tools.kubectl.resources.discovery import Resource

_RBAC = "rbac.authorization.k8s.io"
_KINDS = {
    "ClusterRole": (_RBAC, False), "ClusterRoleBinding": (_RBAC, False), "ConfigMap": ("", True),
    "CronJob": ("batch", True), "DaemonSet": ("apps", True), "Deployment": ("apps", True), "Event": ("", True),
    "Ingress": ("networking.k8s.io", True), "Job": ("batch", True), "Namespace": ("", False), "Node": ("", False),
    "Pod": ("", True), "PodDisruptionBudget": ("policy", True), "PriorityClass": ("scheduling.k8s.io", False),
    "ReplicaSet": ("apps", True), "ReplicationController": ("", True), "ResourceQuota": ("", True), "Role": (_RBAC, True),
    "RoleBinding": (_RBAC, True), "Secret": ("", True), "Service": ("", True), "ServiceAccount": ("", True),
}  # fmt: skip


def built_in(kind: str) -> Resource:
    """Return the resource of a kind, in version v1."""
    group, namespaced = _KINDS[kind]
    singular = kind.lower()
    return Resource(
        group, "v1", singular + ("es" if singular.endswith("s") else "s"), singular, kind, namespaced
    )
