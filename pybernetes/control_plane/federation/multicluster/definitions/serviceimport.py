"""ServiceImport: a service that clusters export, as another cluster uses it."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.multicluster.definitions._versions import CONDITIONS, definition_of
from pybernetes.control_plane.federation.multicluster.kinds import SERVICE_IMPORTS
from pybernetes.control_plane.federation.schemas import STRING, object_

_NUMBER: Object = {"type": "integer", "format": "int32"}
_PORT = object_(
    {
        "name": STRING,
        "protocol": {**STRING, "default": "TCP"},
        "appProtocol": STRING,
        "port": _NUMBER,
    },
    "port",
)
_PORTS: Object = {"type": "array", "items": _PORT, "x-kubernetes-list-type": "atomic"}
_CLUSTERS: Object = {
    "type": "array",
    "items": object_({"cluster": STRING}, "cluster"),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["cluster"],
}
DEFINITION = definition_of(
    SERVICE_IMPORTS,
    {
        "spec": object_(
            {
                "ports": _PORTS,
                "ips": {"type": "array", "items": STRING, "maxItems": 2},
                "type": {"type": "string", "enum": ["ClusterSetIP", "Headless"]},
                "sessionAffinity": STRING,
                "sessionAffinityConfig": object_({"clientIP": object_({"timeoutSeconds": _NUMBER})}),
                "ipFamilies": {"type": "array", "items": STRING, "maxItems": 2},
                "internalTrafficPolicy": STRING,
                "trafficDistribution": STRING,
            },
            "ports", "type",
        ),
        "status": object_({"clusters": _CLUSTERS, "conditions": CONDITIONS}),
    },
    ("svcim", "svcimport"),
    (("Type", "string", ".spec.type"), ("IP", "string", ".spec.ips")),
)  # fmt: skip
