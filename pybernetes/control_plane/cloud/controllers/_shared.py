"""What the loops share: the cloud behind the options, and flags that several of them read."""

from __future__ import annotations

from argparse import Namespace

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.calls import CloudCalls
from pybernetes.control_plane.cloud.provider import CloudProvider
from pybernetes.lib.flags import Flag

CLUSTER_NAME = Flag(
    "cluster-name", "kubernetes", "name of the cluster, by which the cloud tells clusters apart"
)


def cloud_of(options: Namespace) -> tuple[CloudProvider, CloudCalls]:
    """Return the cloud that the program was started with, and how it is asked."""
    return options.cloud, options.cloud_calls


def node_reference(node: Object) -> Object:
    """Return what events about a node are about."""
    meta = node["metadata"]
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": meta["name"], "uid": meta["uid"]}}


def condition(node: Object, type_: str) -> Object | None:
    """Return a condition of a node."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return next((entry for entry in conditions if entry["type"] == type_), None)


def taints(node: Object) -> list[Object]:
    """Return the taints of a node."""
    return (node.get("spec") or {}).get("taints") or []
