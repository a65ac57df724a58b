"""What health checks have answered, as ``/metrics/slis`` of every component shows it."""

from __future__ import annotations

from pybernetes.lib.metrics.exposition import Exposition

_STATUS, _TOTAL = "kubernetes_healthcheck", "kubernetes_healthchecks_total"


class HealthSlis:
    """The last result of each check and how many of either kind there were, by name and by endpoint (``type``)."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], bool] = {}
        self._counts: dict[tuple[str, str, str], int] = {}

    def note(self, name: str, type_: str, healthy: bool) -> None:
        """Count what a check has answered; names are those of checks that exist, never a caller's."""
        self._last[name, type_] = healthy
        key = (name, "success" if healthy else "error", type_)
        self._counts[key] = self._counts.get(key, 0) + 1

    def write(self, out: Exposition) -> None:
        """Write the page."""
        out.family(_STATUS, "gauge", "[STABLE] This metric records the result of a single healthcheck.")
        for (name, type_), healthy in sorted(self._last.items()):
            out.sample(_STATUS, [("name", name), ("type", type_)], int(healthy))
        out.family(_TOTAL, "counter", "[STABLE] This metric records the results of all healthcheck.")
        for (name, status, type_), count in sorted(self._counts.items()):
            out.sample(_TOTAL, [("name", name), ("status", status), ("type", type_)], count)
