"""What the status of an autoscaler says. Pure."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.conditions import find

ABLE, ACTIVE, LIMITED, TO_ZERO = "AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero"


class ScalingStatus:
    """A status that is being made of the last one."""

    def __init__(self, hpa: Object, now: str) -> None:
        old = hpa.get("status") or {}
        self._hpa, self._now = hpa, now
        self._old = old
        self.conditions: list[Object] = list(old.get("conditions") or ())

    def set(self, kind: str, status: str, reason: str, message: str) -> None:
        """Set a condition; its time stays while its status does."""
        known = find(self.conditions, kind)
        since = known.get("lastTransitionTime") if known and known["status"] == status else self._now
        new = {
            "type": kind,
            "status": status,
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }
        if known is None:
            self.conditions = [*self.conditions, new]
        else:
            self.conditions = [new if item is known else item for item in self.conditions]

    def remove(self, kind: str) -> None:
        """Remove a condition."""
        self.conditions = [condition for condition in self.conditions if condition["type"] != kind]

    def is_true(self, kind: str) -> bool:
        """Return whether a condition is true."""
        condition = find(self.conditions, kind)
        return condition is not None and condition["status"] == "True"

    def made(
        self, current: int | None = None, desired: int | None = None, metrics: list[Object] | None = None, *, scaled: bool = False
    ) -> Object:  # fmt: skip
        """Return the status; what is not given stays as it was."""
        new = {**self._old, "conditions": self.conditions}
        if current is None:
            return new
        new["currentReplicas"] = current
        new["desiredReplicas"] = self._old.get("desiredReplicas", 0) if desired is None else desired
        generation = self._hpa["metadata"].get("generation")
        if generation:
            new["observedGeneration"] = generation
        new["currentMetrics"] = metrics or []
        if not metrics:
            del new["currentMetrics"]
        if scaled:
            new["lastScaleTime"] = self._now
        return new
