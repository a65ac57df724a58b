"""How long admission took, as a whole and plugin by plugin, by what it was about and whether it refused.

Nearly all plugins take microseconds. Each costs a look at the clock and one addition, and all that let a write pass
are counted together; only who took longer than the first bucket is counted on its own.
"""

from __future__ import annotations

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram

_STEPS = "apiserver_admission_step_admission_duration_seconds"
_PLUGINS = "apiserver_admission_controller_admission_duration_seconds"
_BOUNDS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
FIRST = _BOUNDS[0]


class Timing(Histogram):
    """How often a step or a plugin took how long."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(_BOUNDS, lowest=FIRST)

    def slow(self, seconds: float) -> None:
        """Move a call that is going to be counted as quick to where it belongs."""
        self.count(FIRST, -1)
        self.count(seconds)


class StepTimings:
    """What one step takes for writes that go to the same plugins, in the same order.

    Whoever calls the plugins adds to their seconds, tells ``slow`` of those beyond the first bucket, and counts a round
    when all of them let the write pass.
    """

    __slots__ = ("_durations", "_names", "_operation", "_step", "plugins", "rounds", "whole")

    def __init__(self, durations: StepDurations, step: str, operation: str, names: tuple[str, ...]) -> None:
        self._durations, self._step, self._operation, self._names = durations, step, operation, names
        self.whole = durations.timing(step, operation, False)
        self.plugins = [durations.timing(step, operation, False, name) for name in names]
        self.rounds = 0  # since they were last counted for the plugins

    def settle(self) -> None:
        """Count the rounds for each plugin."""
        for timing in self.plugins:
            timing.count(FIRST, self.rounds)
        self.rounds = 0

    def refused(self, last: Timing | None, seconds: float, whole: float) -> None:
        """Count a step that refused a write: those before its last plugin let it pass."""
        timing_of, step, operation = self._durations.timing, self._step, self._operation
        timing_of(step, operation, True).observe(whole)
        for name, timing in zip(self._names, self.plugins, strict=True):
            if timing is last:
                timing_of(step, operation, True, name).observe(seconds)
                break
            timing.count(FIRST)


class StepDurations:
    """Histograms of the two steps, ``admit`` (plugins that change objects) and ``validate``, and of each plugin."""

    def __init__(self) -> None:
        # By step, operation, whether it refused, and the plugin ("" for the whole step).
        self._timings: dict[tuple[str, str, bool, str], Timing] = {}
        self._steps: dict[tuple[str, str, tuple[str, ...]], StepTimings] = {}

    def timing(self, step: str, operation: str, rejected: bool, plugin: str = "") -> Timing:
        """Return the histogram of a step, or of a plugin in it."""
        return self._timings.setdefault((step, operation, rejected, plugin), Timing())

    def step(self, step: str, operation: str, plugins: tuple[str, ...]) -> StepTimings:
        """Return the timings of the writes that go to these plugins."""
        key = (step, operation, plugins)
        timings = self._steps.get(key)
        if timings is None:
            timings = self._steps[key] = StepTimings(self, step, operation, plugins)
        return timings

    def render(self, out: Exposition) -> None:
        """Write both metrics; plugins that were never asked are left out."""
        for timings in list(self._steps.values()):
            timings.settle()
        for family, text, by_plugin in (
            (_STEPS, "Seconds that a step of admission took.", False),
            (_PLUGINS, "Seconds that a plugin took in a step of admission.", True),
        ):
            out.family(family, "histogram", text)
            for (step, operation, rejected, plugin), timing in list(self._timings.items()):
                if bool(plugin) is by_plugin and timing.number:
                    labels = [("operation", operation), ("rejected", str(rejected).lower()), ("type", step)]
                    named = [("name", plugin), *labels] if plugin else labels
                    out.histogram(family, named, timing)
