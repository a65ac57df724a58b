"""How long admission took, as a whole and plugin by plugin, by what it was about and whether it refused."""

from __future__ import annotations

from bisect import bisect_left

from pybernetes.lib.exposition import Exposition

_STEPS = "apiserver_admission_step_admission_duration_seconds"
_PLUGINS = "apiserver_admission_controller_admission_duration_seconds"
BOUNDS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
FIRST = BOUNDS[0]


class StepDurations:
    """Histograms of the two steps, ``admit`` (plugins that change objects) and ``validate``, and of each plugin."""

    def __init__(self) -> None:
        # By step, operation, whether it refused, and the plugin ("" for the whole step): counts, and the seconds at last.
        self._records: dict[tuple[str, str, bool, str], list[float]] = {}

    def record(self, step: str, operation: str, rejected: bool, plugin: str = "") -> list[float]:
        """Return the counts of each bucket, and the seconds at last; the caller adds to them."""
        return self._records.setdefault((step, operation, rejected, plugin), [0] * (len(BOUNDS) + 2))

    def note(self, step: str, operation: str, rejected: bool, seconds: float, plugin: str = "") -> None:
        """Count a step of a write, or a plugin's part of it."""
        record = self._records.get((step, operation, rejected, plugin))
        if record is None:
            record = self.record(step, operation, rejected, plugin)
        record[0 if seconds <= FIRST else bisect_left(BOUNDS, seconds)] += 1
        record[-1] += seconds

    def render(self, out: Exposition) -> None:
        """Write both metrics; plugins that were never asked are left out."""
        for family, text, by_plugin in (
            (_STEPS, "Seconds that a step of admission took.", False),
            (_PLUGINS, "Seconds that a plugin took in a step of admission.", True),
        ):
            out.family(family, "histogram", text)
            for (step, operation, rejected, plugin), record in list(self._records.items()):
                counts = [int(count) for count in record[:-1]]
                if bool(plugin) is by_plugin and any(counts):
                    labels = [("operation", operation), ("rejected", str(rejected).lower()), ("type", step)]
                    named = [("name", plugin), *labels] if plugin else labels
                    out.histogram(family, named, BOUNDS, counts, record[-1])
