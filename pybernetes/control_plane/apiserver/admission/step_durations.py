"""How long admission took, by what it was about and whether it refused."""

from __future__ import annotations

from bisect import bisect_left

from pybernetes.lib.exposition import Exposition

_NAME = "apiserver_admission_step_admission_duration_seconds"
_BOUNDS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)


class StepDurations:
    """Histograms of the two steps, ``admit`` (plugins that change objects) and ``validate``."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, bool], list[float]] = {}

    def note(self, step: str, operation: str, rejected: bool, seconds: float) -> None:
        """Count a step of a write."""
        key = (step, operation, rejected)
        record = self._records.get(key)
        if record is None:
            record = self._records[key] = [0] * (len(_BOUNDS) + 2)
        record[0 if seconds <= 0.005 else bisect_left(_BOUNDS, seconds)] += 1
        record[-1] += seconds

    def render(self, out: Exposition) -> None:
        """Write the metric."""
        out.family(_NAME, "histogram", "Seconds that a step of admission took.")
        for (step, operation, rejected), record in list(self._records.items()):
            labels = [("operation", operation), ("rejected", str(rejected).lower()), ("type", step)]
            out.histogram(_NAME, labels, _BOUNDS, [int(count) for count in record[:-1]], record[-1])
