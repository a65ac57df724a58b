"""KubeFedConfig: the settings of a federation's control plane."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.config import PREFERENCES, PUSH, RAW_STATUS, Config
from pybernetes.control_plane.federation.kinds import KUBEFED_CONFIGS
from pybernetes.control_plane.federation.schemas import (
    DURATION,
    ENABLED,
    INTEGER,
    SCOPE,
    definition,
    list_,
    object_,
    rules,
    usually,
)
from pybernetes.runtime.election import JITTER

_USUAL = Config()
_GATE = {"type": "string", "enum": [PUSH, RAW_STATUS, PREFERENCES]}
_GATES = [
    {"name": name, "configuration": "Enabled" if on else "Disabled"}
    for name, on in sorted(_USUAL.gates.items())
]


def _seconds(value: float) -> Object:
    return usually(DURATION, f"{value:g}s")


def _count(value: int) -> Object:
    return usually({**INTEGER, "minimum": 1}, value)


def _section(properties: Object) -> Object:
    """Return a part of the settings, which is there even if nobody says anything of it."""
    return usually(object_(properties), {name: schema["default"] for name, schema in properties.items()})


# The retry period is drawn out by chance to 1.2 times as long at most, and durations can only be added.
_ELECTION = rules(
    ("duration(self.leaseDuration) > duration(self.renewDeadline)", "leaseDuration must be greater than renewDeadline"),
    (
        " + ".join(5 * ["duration(self.renewDeadline)"]) + " > " + " + ".join(6 * ["duration(self.retryPeriod)"]),
        f"renewDeadline must be greater than retryPeriod*JitterFactor({JITTER})",
    ),
)  # fmt: skip
DEFINITION = definition(
    KUBEFED_CONFIGS.group, KUBEFED_CONFIGS.version, KUBEFED_CONFIGS.kind, KUBEFED_CONFIGS.plural,
    {
        "spec": object_(
            {
                "scope": {**SCOPE, **rules(("self == oldSelf", "field is immutable"))},
                "controllerDuration": _section(
                    {
                        "availableDelay": _seconds(_USUAL.available_delay),
                        "unavailableDelay": _seconds(_USUAL.unavailable_delay),
                        "cacheSyncTimeout": _seconds(_USUAL.cache_sync_timeout),
                    }
                ),
                "leaderElect": {
                    **_section(
                        {
                            "leaseDuration": _seconds(_USUAL.lease_duration),
                            "renewDeadline": _seconds(_USUAL.renew_deadline),
                            "retryPeriod": _seconds(_USUAL.retry_period),
                            "resourceLock": usually({"type": "string", "enum": ["configmaps", "endpoints", "leases"]}, "leases"),
                        }
                    ),
                    **_ELECTION,
                },
                "featureGates": usually(
                    {
                        **list_(object_({"name": _GATE, "configuration": ENABLED}, "name", "configuration")),
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                    },
                    _GATES,
                ),
                "clusterHealthCheck": _section(
                    {
                        "period": _seconds(_USUAL.probe_period),
                        "failureThreshold": _count(_USUAL.failure_threshold),
                        "successThreshold": _count(_USUAL.success_threshold),
                        "timeout": _seconds(_USUAL.probe_timeout),
                    }
                ),
                "syncController": _section(
                    {
                        "maxConcurrentReconciles": _count(_USUAL.workers),
                        "adoptResources": usually(ENABLED, "Enabled" if _USUAL.adopts else "Disabled"),
                    }
                ),
                "statusController": _section({"maxConcurrentReconciles": _count(1)}),
            },
            "scope",
        )
    },
)  # fmt: skip
