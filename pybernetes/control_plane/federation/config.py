"""The settings of a federation's control plane: what a KubeFedConfig says, and what holds where it is silent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.runtime.election import JITTER

PUSH, PREFERENCES, RAW_STATUS = "PushReconciler", "SchedulerPreferences", "RawResourceStatusCollection"
_GATES = {PUSH: True, PREFERENCES: True, RAW_STATUS: False}


@dataclass(frozen=True)
class Config:
    """Settings, in seconds where they are times."""

    one_namespace: bool = False  # the federation reaches no further than its own namespace
    available_delay: float = 0.0
    unavailable_delay: float = 0.0
    cache_sync_timeout: float = 300.0
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 5.0
    probe_period: float = 10.0
    probe_timeout: float = 3.0
    failure_threshold: int = 3
    success_threshold: int = 1
    workers: int = 5
    adopts: bool = True
    gates: dict[str, bool] = field(default_factory=lambda: dict(_GATES))


_DURATIONS = {
    "controllerDuration": {
        "availableDelay": "available_delay",
        "unavailableDelay": "unavailable_delay",
        "cacheSyncTimeout": "cache_sync_timeout",
    },
    "leaderElect": {
        "leaseDuration": "lease_duration",
        "renewDeadline": "renew_deadline",
        "retryPeriod": "retry_period",
    },
    "clusterHealthCheck": {"period": "probe_period", "timeout": "probe_timeout"},
}
_NUMBERS = {
    "clusterHealthCheck": {"failureThreshold": "failure_threshold", "successThreshold": "success_threshold"},
    "syncController": {"maxConcurrentReconciles": "workers"},
}


def read(obj: Object | None) -> Config:
    """Return the settings of a KubeFedConfig; ValueError names the field that cannot be."""
    spec = (obj or {}).get("spec") or {}
    values: dict[str, Any] = {"one_namespace": spec.get("scope") == "Namespaced"}
    for section, names in _DURATIONS.items():
        for name, ours in names.items():
            text = (spec.get(section) or {}).get(name)
            if text is not None:
                values[ours] = _seconds(f"spec.{section}.{name}", text, zero="Delay" in name)
    for section, names in _NUMBERS.items():
        for name, ours in names.items():
            number = (spec.get(section) or {}).get(name)
            if number is not None:
                if number < 1:
                    raise ValueError(f"spec.{section}.{name}: {number} has to be at least 1")
                values[ours] = number
    values["adopts"] = (spec.get("syncController") or {}).get("adoptResources", "Enabled") == "Enabled"
    gates = dict(_GATES)
    for gate in spec.get("featureGates") or ():
        if gate["name"] not in gates:
            raise ValueError(f"spec.featureGates: there is no feature {gate['name']!r}")
        gates[gate["name"]] = gate["configuration"] == "Enabled"
    config = Config(**values, gates=gates)
    if config.renew_deadline >= config.lease_duration:
        raise ValueError("spec.leaderElect.leaseDuration: must be greater than renewDeadline")
    if config.renew_deadline <= config.retry_period * JITTER:
        raise ValueError(
            f"spec.leaderElect.renewDeadline: must be greater than retryPeriod*JitterFactor({JITTER})"
        )
    return config


def _seconds(field_: str, text: str, *, zero: bool) -> float:
    try:
        value = float(duration(text))
    except ValueError as error:
        raise ValueError(f"{field_}: {error}") from None
    if value < 0 or (not value and not zero):
        raise ValueError(f"{field_}: {text} is too short")
    return value
