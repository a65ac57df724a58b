"""How nodes of groups become Nodes: what kubelets register themselves with, and what the administrator adds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.tools.local.admin_client import AdminClient, ApiError
from pybernetes.tools.local.hollow import stages
from pybernetes.tools.local.hollow.nodes import HOLLOW
from pybernetes.tools.local.nodes.node_group import GroupError, node_object, provider_id
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeGroup, NodeSettings, Settings

_HELD_BACK = 100 * 2**20  # the memory below which a node's kubelet evicts pods, which none may have
_CONFLICT, _NOT_FOUND = 409, 404


def machine() -> dict[str, str]:
    """Return what this machine has."""
    from pathlib import Path

    from pybernetes.node.kubelet.node_status.machine import capacity

    return capacity(Path("/"), 110)


def allocatable(capacity: Mapping[str, str]) -> dict[str, str]:
    """Return what a real node has for pods if nothing is reserved."""
    return {"memory": str(int(quantity.parse(capacity["memory"]) - _HELD_BACK))}


def check_resources(group: NodeGroup) -> None:
    """Raise GroupError if a group's nodes are real and are to have more than this machine has."""
    if not group.hollow:
        reservations(group.resources, machine())


def reservations(resources: Mapping[str, str], capacity: Mapping[str, str]) -> list[str]:
    """Return the kubelet's flags by which a node has just these resources left for pods, of all that the machine has."""
    reserved, flags = [], []
    for name, text in resources.items():
        wanted = quantity.parse(text)
        if name == "pods":
            flags.append(f"--max-pods={int(wanted)}")
            continue
        if name not in ("cpu", "memory", "ephemeral-storage"):
            raise GroupError(f"resources.{name}: a real node has cpu, memory, ephemeral-storage and pods")
        left = quantity.parse(capacity[name]) - wanted - (_HELD_BACK if name == "memory" else 0)
        if left < 0:
            raise GroupError(
                f"resources.{name}: {text} is more than this machine can give a node ({capacity[name]})"
            )
        reserved.append(
            f"{name}={math.floor(left * 1000)}m" if name == "cpu" else f"{name}={math.floor(left)}"
        )
    return [*flags, *([f"--system-reserved={','.join(reserved)}"] if reserved else [])]


def kubelet_arguments(cluster: Cluster, settings: Settings, node: NodeSettings) -> list[str]:
    """Return what a node's kubelet is told about labels, taints, resources and the name of its machine."""
    labels, taints, resources = settings.registration(node)
    result = [f"--provider-id={provider_id(cluster.name, node.name)}"]
    if labels:
        result.append(f"--node-labels={','.join(f'{key}={value}' for key, value in labels.items())}")
    if taints:
        result.append(f"--register-with-taints={','.join(taints)}")
    return [*result, *(reservations(resources, machine()) if resources else ())]


def hollow_object(group: NodeGroup, cluster: str, name: str) -> Object:
    """Return the Node by which the hollow nodes learn that there is one more."""
    template = stages.node_template()
    usual = {key: value for key, value in template["metadata"]["labels"].items() if not value.startswith("$")}
    node = node_object(group, cluster, name, usual)
    amounts = {**template["status"]["capacity"], **group.resources}
    return {
        **node,
        "metadata": {**node["metadata"], "annotations": {HOLLOW: group.name}},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def register(cluster: Cluster, settings: Settings, names: Iterable[str] | None = None) -> None:
    """Register what nodes of groups do not register themselves: hollow ones, and the roles of all."""
    chosen = None if names is None else set(names)
    api = AdminClient(cluster) if settings.node_groups else None
    for group in settings.node_groups:
        for name in settings.members(group):
            if api is None or (chosen is not None and name not in chosen):
                continue
            if group.hollow:
                _create(api, hollow_object(group, cluster.name, name))
            elif group.role:
                _create(api, node_object(group, cluster.name, name, {}))


def _create(api: AdminClient, node: Object) -> None:
    """Create a Node, or give the one that is there the labels of its group."""
    meta = node["metadata"]
    try:
        api.call("POST", "/api/v1/nodes", body=node)
    except ApiError as error:
        if error.status != _CONFLICT:
            raise
        annotations = meta.get("annotations", {})
        patch = {"metadata": {"labels": meta["labels"], "annotations": annotations}}
        api.call("PATCH", f"/api/v1/nodes/{meta['name']}", body=patch)


def forget(cluster: Cluster, name: str) -> None:
    """Delete a Node; it may never have been registered, and the API server may not run."""
    try:
        AdminClient(cluster).call("DELETE", f"/api/v1/nodes/{name}")
    except ApiError as error:
        if error.status != _NOT_FOUND:
            raise
    except OSError:
        pass
