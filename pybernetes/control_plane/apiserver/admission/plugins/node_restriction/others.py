"""Claims, leases, CSI nodes and resource slices."""

from __future__ import annotations

from typing import Any

from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugins.node_restriction.lookups import Lookups

_LEASES = "kube-node-lease"
# What a kubelet reports of a volume that it has expanded.
_CLAIM_STATUS = ("capacity", "conditions", "allocatedResourceStatuses", "allocatedResources")


def _rest_of_claim(claim: dict[str, Any]) -> dict[str, Any]:
    meta = {
        key: value
        for key, value in claim.get("metadata", {}).items()
        if key not in ("resourceVersion", "managedFields")
    }
    status = {key: value for key, value in claim.get("status", {}).items() if key not in _CLAIM_STATUS}
    return {**claim, "metadata": meta, "status": status}


def claim(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Let a node report the size of claims, and nothing else of them."""
    if attributes.subresource != "status":
        attributes.refuse("may only update PVC status")
    if attributes.operation != UPDATE:
        attributes.refuse(f"unexpected operation {go_format.quote(attributes.operation)}")
    new, old = (_rest_of_claim(claim_object or {}) for claim_object in (attributes.obj, attributes.old))
    if new != old:
        attributes.refuse(
            f"node {go_format.quote(node)} is not allowed to update fields other than status.quantity and "
            f"status.conditions: {go_format.difference(old, new)}"
        )


def _own_name(node: str, attributes: Attributes, what: str) -> None:
    name = attributes.name
    if attributes.operation == CREATE:
        name = (attributes.obj or {}).get("metadata", {}).get("name", "")
    if name != node:
        attributes.refuse(f"can only access {what} with the same name as the requesting node")


def lease(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Let a node renew its own lease."""
    if attributes.namespace != _LEASES:
        attributes.refuse(f"can only access leases in the {go_format.quote(_LEASES)} system namespace")
    _own_name(node, attributes, "node lease")


def csi_node(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Let a node tell of its own CSI drivers."""
    _own_name(node, attributes, "CSINode")


def resource_slice(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Let a node publish its own devices."""
    verbs = {CREATE: ("create", attributes.obj), DELETE: ("delete", attributes.old)}
    if attributes.operation not in verbs:
        return
    verb, obj = verbs[attributes.operation]
    if (obj or {}).get("spec", {}).get("nodeName") != node:
        attributes.refuse(f"can only {verb} ResourceSlice with the same NodeName as the requesting node")
