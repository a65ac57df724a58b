"""KubeFedConfig: the settings of a federation's control plane."""

from __future__ import annotations

from pybernetes.control_plane.federation.config import PREFERENCES, PUSH, RAW_STATUS
from pybernetes.control_plane.federation.kinds import KUBEFED_CONFIGS
from pybernetes.control_plane.federation.schemas import (
    DURATION,
    ENABLED,
    INTEGER,
    SCOPE,
    definition,
    list_,
    object_,
    rule,
)

_POSITIVE = {**INTEGER, "minimum": 1}
_GATE = {"type": "string", "enum": [PUSH, RAW_STATUS, PREFERENCES]}
DEFINITION = definition(
    KUBEFED_CONFIGS.group, KUBEFED_CONFIGS.version, KUBEFED_CONFIGS.kind, KUBEFED_CONFIGS.plural,
    {
        "spec": object_(
            {
                "scope": {**SCOPE, **rule("self == oldSelf", "field is immutable")},
                "controllerDuration": object_(
                    {"availableDelay": DURATION, "unavailableDelay": DURATION, "cacheSyncTimeout": DURATION}
                ),
                "leaderElect": object_(
                    {
                        "leaseDuration": DURATION,
                        "renewDeadline": DURATION,
                        "retryPeriod": DURATION,
                        "resourceLock": {"type": "string", "enum": ["configmaps", "endpoints", "leases"]},
                    }
                ),
                "featureGates": {
                    **list_(object_({"name": _GATE, "configuration": ENABLED}, "name", "configuration")),
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
                "clusterHealthCheck": object_(
                    {
                        "period": DURATION,
                        "failureThreshold": _POSITIVE,
                        "successThreshold": _POSITIVE,
                        "timeout": DURATION,
                    }
                ),
                "syncController": object_(
                    {"maxConcurrentReconciles": _POSITIVE, "adoptResources": ENABLED}
                ),
                "statusController": object_({"maxConcurrentReconciles": _POSITIVE}),
            },
            "scope",
        )
    },
)  # fmt: skip
