"""FederatedTypeConfig: which kind is federated, and as which."""

from __future__ import annotations

from pybernetes.control_plane.federation.kinds import FEDERATED_TYPE_CONFIGS
from pybernetes.control_plane.federation.schemas import ENABLED, INTEGER, SCOPE, STRING, definition, object_

_RESOURCE = object_(
    {"group": STRING, "version": STRING, "kind": STRING, "pluralName": STRING, "scope": SCOPE},
    "version", "kind", "scope",
)  # fmt: skip
_RUNNING = {"type": "string", "enum": ["Running", "NotRunning"]}
DEFINITION = definition(
    FEDERATED_TYPE_CONFIGS.group, FEDERATED_TYPE_CONFIGS.version, FEDERATED_TYPE_CONFIGS.kind,
    FEDERATED_TYPE_CONFIGS.plural,
    {
        "spec": object_(
            {
                "targetType": _RESOURCE,
                "propagation": ENABLED,
                "federatedType": _RESOURCE,
                "statusType": _RESOURCE,
                "statusCollection": ENABLED,
            },
            "targetType", "propagation", "federatedType",
        ),
        "status": object_(
            {
                "observedGeneration": INTEGER,
                "propagationController": _RUNNING,
                "statusController": _RUNNING,
            },
            "observedGeneration", "propagationController",
        ),
    },
    short=("ftc",),
)  # fmt: skip
