"""EndpointSlice v1beta1, in which the zone of an endpoint is a key of a map."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object

_ZONE, _HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def convert(obj: Object) -> Object:
    """Take the zone out of the topology, and the host's name if it is the node's."""
    for endpoint in obj.get("endpoints") or ():
        topology = endpoint.pop("topology", None) or {}
        if _ZONE in topology:
            endpoint["zone"] = topology.pop(_ZONE)
        if _HOSTNAME in topology and topology[_HOSTNAME] == endpoint.get("nodeName"):
            del topology[_HOSTNAME]
        if topology:
            endpoint["deprecatedTopology"] = topology
    return obj


OLDER: Table = {
    ("discovery.k8s.io/v1beta1", "EndpointSlice"): OlderVersion(
        "discovery.k8s.io/v1", convert, "io.k8s.api.discovery.v1beta1.EndpointSlice"
    )
}
