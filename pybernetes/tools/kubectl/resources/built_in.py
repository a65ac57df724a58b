"""The resources that every server has, for commands that need not ask which there are."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.discovery import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pybernetes.tools.kubectl.resources.info import Info

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


# What the original calls the kinds that its commands know, and the groups that these are in. Neither custom resources nor
# their definitions are among them.
SCHEME = "pkg/scheme/scheme.go:28"
CLIENT_SCHEME = "k8s.io/client-go/kubernetes/scheme/register.go:84"
_GROUPS = frozenset({
    "", "apps", "autoscaling", "batch", "extensions", "policy", "admissionregistration.k8s.io", "authentication.k8s.io",
    "authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
    "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", _RBAC,
    "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
})  # fmt: skip


def known(infos: Iterator[Info], scheme: str, keep: Callable[[CommandError], None]) -> Iterator[Info]:
    """Yield the objects of built-in kinds; the others are errors that are kept."""
    for info in infos:
        resource = info.resource
        if resource.group in _GROUPS:
            yield info
            continue
        text = unknown(resource, resource.kind, scheme)
        keep(CommandError(f'unable to decode "{info.source}": {text}' if info.source else text))


def unknown(resource: Resource, kind: str, scheme: str) -> str:
    """Return the text about a kind of a resource, or that of its list, that is not built in; none if it is."""
    if resource.group in _GROUPS:
        return ""
    return f'no kind "{kind}" is registered for version "{resource.api_version}" in scheme "{scheme}"'
