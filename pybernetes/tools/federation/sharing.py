"""Letting a member share services: the kinds of the multi-cluster services API, and the rights to carry services over."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
)
from pybernetes.control_plane.federation.kinds import COMPONENT
from pybernetes.control_plane.federation.multicluster.definitions import definitions
from pybernetes.control_plane.federation.multicluster.kinds import GROUP
from pybernetes.tools.federation import corefiles, host_objects, permissions
from pybernetes.tools.federation.joining import Joining

_NAMES_ROLE = f"{COMPONENT}:names"
_READ = ["get", "list", "watch"]
_WRITE = [*_READ, "create", "patch", "delete"]


def rules() -> list[Object]:
    """Return what the control plane needs in a member that shares services."""
    return [
        {"apiGroups": [GROUP], "resources": ["serviceexports"], "verbs": _READ},
        {"apiGroups": [GROUP], "resources": ["serviceexports/status", "serviceimports/status"], "verbs": ["patch"]},
        {"apiGroups": [GROUP], "resources": ["serviceimports"], "verbs": _WRITE},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": _READ},
        {"apiGroups": [""], "resources": ["services"], "verbs": _WRITE},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": _WRITE},
    ]  # fmt: skip


def role_of(account: str) -> str:
    """Return the name of the role for it."""
    return f"{COMPONENT}:{account}:services"


async def share(member: Client, joining: Joining) -> None:
    """Install the kinds in a member, and give the control plane's account the rights for them."""
    granted = permissions.cluster_role(role_of(joining.account), joining.account, joining.namespace, rules())
    for kind, obj in granted:
        await host_objects.put(member, kind, obj)
    # Last: the control plane begins with it.
    for definition in definitions():
        await host_objects.put(member, CUSTOM_RESOURCE_DEFINITIONS, definition)


async def answer_names(member: Client) -> bool:
    """Have a cluster's name server answer for the set's zone; return whether it has a Corefile that can say so."""
    try:
        config = await member.get(CONFIG_MAPS, "coredns", "kube-system")
    except NotFound:
        return False
    reading = {"apiGroups": [GROUP], "resources": ["serviceimports"], "verbs": ["list", "watch"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _NAMES_ROLE}
    subjects = [
        {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}
        for name in ("coredns", "kube-dns")
    ]
    meta = {"name": _NAMES_ROLE}
    await host_objects.put(member, CLUSTER_ROLES, {"metadata": meta, "rules": [reading]})
    await host_objects.put(
        member, CLUSTER_ROLE_BINDINGS, {"metadata": meta, "roleRef": role, "subjects": subjects}
    )
    text = (config.get("data") or {}).get("Corefile", "")
    changed = corefiles.with_cluster_set(text)
    if changed != text:
        await member.patch(CONFIG_MAPS, "coredns", {"data": {"Corefile": changed}}, "kube-system")
    return True
