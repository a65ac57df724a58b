"""KubeFedConfig: the settings of a federation's control plane."""

from __future__ import annotations

from pybernetes.control_plane.federation.kinds import KUBEFED_CONFIGS
from pybernetes.control_plane.federation.schemas import (
    DURATION,
    ENABLED,
    INTEGER,
    SCOPE,
    STRING,
    definition,
    list_,
    object_,
)

_POSITIVE = {**INTEGER, "minimum": 1}
DEFINITION = definition(
    KUBEFED_CONFIGS.group, KUBEFED_CONFIGS.version, KUBEFED_CONFIGS.kind, KUBEFED_CONFIGS.plural,
    {
        "spec": object_(
            {
                "scope": SCOPE,
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
                "featureGates": list_(object_({"name": STRING, "configuration": ENABLED}, "name", "configuration")),
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
