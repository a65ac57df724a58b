"""What a node gets from the cloud: provider id, labels, addresses. Pure."""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Mapping, Sequence

from pybernetes.api.cloud import PROVIDED_ADDRESS, UNINITIALIZED
from pybernetes.api.resource import Object
from pybernetes.api.validation.names import label_value, qualified_name
from pybernetes.control_plane.cloud.controllers._shared import taints
from pybernetes.control_plane.cloud.provider import HOSTNAME, CloudError, InstanceMetadata, NodeAddress

log = logging.getLogger(__name__)


# Labels that say the same under an older name, which counts where they differ.
OLDER_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
_RESERVED = re.compile(r"(^|\.)(kubernetes|k8s)\.io/")


def is_uninitialized(node: Object) -> bool:
    """Return whether a node waits for the cloud."""
    return any(taint["key"] == UNINITIALIZED for taint in taints(node))


def labels_of(metadata: InstanceMetadata, present: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that a node gets; a cloud's own must neither be Kubernetes' nor change what is there."""
    values = (metadata.zone, metadata.region, metadata.instance_type)
    result = {}
    for (older, newer), value in zip(OLDER_LABELS.items(), values, strict=True):
        if value and not label_value(value):
            result[older] = result[newer] = value
        elif value:
            log.warning("%r of the cloud cannot be the label %s", value, newer)
    for key, value in metadata.labels.items():
        if _RESERVED.search(key) or present.get(key, value) != value:
            log.warning("the label %s of the cloud is left out: it is Kubernetes' own, or set already", key)
        elif qualified_name(key) or label_value(value):
            log.warning("%r=%r of the cloud cannot be a label", key, value)
        else:
            result[key] = value
    return result


def older_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels to set so that newer names say what the older ones do."""
    return {
        newer: labels[older]
        for older, newer in OLDER_LABELS.items()
        if older in labels and labels.get(newer) != labels[older]
    }


def initialize(node: Object, metadata: InstanceMetadata) -> None:
    """Change a node to one that the cloud has completed."""
    spec, meta = node.setdefault("spec", {}), node["metadata"]
    if not spec.get("providerID"):
        spec["providerID"] = metadata.provider_id
    present = meta.get("labels") or {}
    meta["labels"] = {**present, **labels_of(metadata, present)}
    spec["taints"] = [taint for taint in taints(node) if taint["key"] != UNINITIALIZED]


def addresses_of(node: Object, metadata: InstanceMetadata) -> list[Object] | None:
    """Return the addresses that a node is to have; None if the cloud names none. CloudError if they do not fit.

    The host's name stays if the cloud has no other. An address that the kubelet was given comes first and is the only
    one of its type.
    """
    addresses = [address for address in metadata.addresses if address.address]
    if not addresses:
        return None
    if not any(address.type == HOSTNAME for address in addresses):
        present = (node.get("status") or {}).get("addresses") or ()
        addresses += [
            NodeAddress(HOSTNAME, entry["address"]) for entry in present if entry["type"] == HOSTNAME
        ]
    provided = (node["metadata"].get("annotations") or {}).get(PROVIDED_ADDRESS)
    if provided is not None:
        addresses = preferred(provided, addresses)
    unique = dict.fromkeys(addresses)
    return [{"type": address.type, "address": address.address} for address in unique]


def preferred(provided: str, addresses: Sequence[NodeAddress]) -> list[NodeAddress]:
    """Return addresses in the order in which a node lists them if its kubelet was given some of them."""
    first: list[NodeAddress] = []
    for text in provided.split(","):
        wanted = _address(text.strip())
        if wanted is None:
            raise CloudError(f'failed to parse node IP "{provided}"')
        matching = [address for address in addresses if _address(address.address) == wanted]
        if not matching:
            raise CloudError(f"failed to get node address from cloud provider that matches ip: {text}")
        first += matching
    types = {address.type for address in first}
    return first + [address for address in addresses if address.type not in types]


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
