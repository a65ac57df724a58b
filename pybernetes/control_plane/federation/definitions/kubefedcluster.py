"""KubeFedCluster: a cluster of the federation, how to reach it, and how it does."""

from __future__ import annotations

from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS
from pybernetes.control_plane.federation.schemas import STRING, TIME, definition, list_, object_

_CONDITION = object_(
    {
        "type": STRING,
        "status": STRING,
        "reason": STRING,
        "message": STRING,
        "lastProbeTime": TIME,
        "lastTransitionTime": TIME,
    },
    "type", "status", "lastProbeTime",
)  # fmt: skip
DEFINITION = definition(
    KUBEFED_CLUSTERS.group, KUBEFED_CLUSTERS.version, KUBEFED_CLUSTERS.kind, KUBEFED_CLUSTERS.plural,
    {
        "spec": object_(
            {
                "apiEndpoint": STRING,
                "caBundle": {"type": "string", "format": "byte"},
                "secretRef": object_({"name": STRING}, "name"),
                "disabledTLSValidations": list_(
                    {"type": "string", "enum": ["*", "SubjectName", "ValidityPeriod"]}
                ),
                "proxyURL": STRING,
            },
            "apiEndpoint", "secretRef",
        ),
        "status": object_(
            {
                "conditions": list_(_CONDITION),
                "kubernetesVersion": STRING,
                "region": STRING,
                "zones": list_(STRING),
            },
            "conditions",
        ),
    },
    columns=(
        ("age", "date", ".metadata.creationTimestamp"),
        ("ready", "string", ".status.conditions[?(@.type=='Ready')].status"),
        ("kubernetes-version", "string", ".status.kubernetesVersion"),
    ),
)  # fmt: skip
