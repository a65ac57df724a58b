"""KubeFedCluster: a cluster of the federation, how to reach it, and how it does."""

from __future__ import annotations

from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS
from pybernetes.control_plane.federation.schemas import STRING, TIME, definition, list_, object_, rules

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
                "apiEndpoint": {"type": "string", "minLength": 1},
                "caBundle": {"type": "string", "format": "byte"},
                "secretRef": object_({"name": {"type": "string", "minLength": 1}}, "name"),
                "disabledTLSValidations": {
                    **list_({"type": "string", "enum": ["*", "SubjectName", "ValidityPeriod"]}),
                    "maxItems": 3,
                    **rules(
                        (
                            "self.size() < 2 || !('*' in self)",
                            "when * is specified, it is expected to be the only option in list",
                        )
                    ),
                },
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
    short=("kfc",),
    columns=(
        ("age", "date", ".metadata.creationTimestamp"),
        ("ready", "string", ".status.conditions[?(@.type=='Ready')].status"),
        ("kubernetes-version", "string", ".status.kubernetesVersion"),
    ),
)  # fmt: skip
