"""How long the plugins of a profile take: at each extension point, and in one decision of ten each of them.

Nothing but additions happens while pods are scheduled; whoever shows the figures makes text of them. In the decisions that
are sampled, stand-ins take the place of the plugins: they look at the clock before and after, and the others cost nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from pybernetes.lib.counts import Histogram, exponential
from pybernetes.scheduling.plugin import Outcome, Plugin, Rejection

SUCCESS, UNSCHEDULABLE, ERROR, SKIP, WAIT = "Success", "Unschedulable", "Error", "Skip", "Wait"
_POINT_BOUNDS = exponential(0.0001, 2, 12)
_PLUGIN_BOUNDS = exponential(0.00001, 1.5, 20)
_SHARE = 0.1
Names = tuple[str, ...]
P = TypeVar("P", bound=Plugin)


def rejected(answer: object) -> str:
    """Return the status of a call that gives why a pod cannot be."""
    return UNSCHEDULABLE if isinstance(answer, Rejection) else SUCCESS


def permitted(answer: object) -> str:
    """Return the status of a plugin that was asked to permit a pod: None permits, else it waits or is refused."""
    return WAIT if answer is not None and not isinstance(answer, Rejection) else rejected(answer)


def made_room(outcome: Outcome | None) -> str:
    """Return the status of a plugin that tried to make room for a pod."""
    return SUCCESS if outcome is not None and outcome.nominated else UNSCHEDULABLE


# Of each method that is timed: its point, and what came of a call by what it gave. A filter looks at many nodes at a time:
# it succeeds if one of them will do.
_METHODS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "pre_filter": ("PreFilter", lambda answer: SKIP if answer is None else rejected(answer)),
    "filter": ("Filter", lambda codes: SUCCESS if (codes == 0).any() else UNSCHEDULABLE),
    "filter_row": ("Filter", lambda code: UNSCHEDULABLE if code else SUCCESS),
    "post_filter": ("PostFilter", made_room),
    "score": ("Score", lambda scores: SUCCESS),
    "score_row": ("Score", lambda score: SUCCESS),
    "reserve": ("Reserve", rejected),
    "permit": ("Permit", permitted),
}


class PointTimes:
    """The times of one profile. ``begin`` comes before a decision, and chooses whether each plugin is timed in it."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self.points: dict[tuple[str, str], Histogram] = {}  # by point and status
        self.plugins: dict[tuple[str, str, str], Histogram] = {}  # by plugin, point and status
        # How often these filters and scores were asked together: without success, and with it.
        self._evaluations: dict[tuple[Names, Names], list[int]] = {}
        self._stand_ins: dict[int, _StandIn] = {}
        self.sampled = False
        self.scoring = 0.0  # seconds of the decision under way that went to scores
        self._chance = chance or random.Random()
        self.pre_filtered, self.filtered = self._point("PreFilter", SUCCESS), self._point("Filter", SUCCESS)
        self.scored = self._point("Score", SUCCESS)

    def begin(self) -> float:
        """Start a decision; return the time."""
        self.scoring = 0.0
        self.sampled = self._chance.random() < _SHARE
        return time.perf_counter()

    def point(self, point: str, status: str, since: float, without: float = 0.0) -> float:
        """Count what a point took since a moment, but for some seconds; return the time."""
        now = time.perf_counter()
        self._point(point, status).observe(now - since - without)
        return now

    def _point(self, point: str, status: str) -> Histogram:
        histogram = self.points.get((point, status))
        if histogram is None:
            histogram = self.points[point, status] = Histogram(_POINT_BOUNDS)
        return histogram

    # -- plugin by plugin ----------------------------------------------------------------------------------

    def evaluations(self, filters: Names, scores: Names) -> list[int]:
        """Return two numbers, to be added to: decisions that these plugins were asked for, without and with success."""
        return self._evaluations.setdefault((filters, scores), [0, 0])

    def plugin_evaluations(self, pre_filters: Names) -> dict[tuple[str, str], int]:
        """Return how often each plugin was asked, by its name and the point; every decision begins with some."""
        totals: dict[tuple[str, str], int] = {}

        def add(point: str, names: Names, count: int) -> None:
            for name in names:
                totals[name, point] = totals.get((name, point), 0) + count

        for (filters, scores), (failed, found) in self._evaluations.items():
            add("PreFilter", pre_filters, failed + found)
            add("Filter", filters, failed + found)
            add("Score", scores, found)
        return {key: count for key, count in totals.items() if count}

    def timed(self, plugins: Sequence[P]) -> Sequence[P]:
        """Return the plugins as they are asked in this decision: themselves, or stand-ins with a clock."""
        return [self.stand_in(plugin) for plugin in plugins] if self.sampled else plugins

    def stand_in(self, plugin: P) -> P:
        """Return what looks like a plugin, and counts what it takes."""
        known = self._stand_ins.get(id(plugin))
        if known is None:
            known = self._stand_ins[id(plugin)] = _StandIn(plugin, self)
        return cast(P, known)

    def call(
        self, plugin: Plugin, point: str, judge: Callable[[Any], str], method: Callable[..., Any], *arguments: Any
    ) -> Any:  # fmt: skip
        """Ask a plugin and count what it took."""
        since, status = time.perf_counter(), ERROR
        try:
            answer = method(*arguments)
            status = judge(answer)
            return answer
        finally:
            seconds, key = time.perf_counter() - since, (plugin.name, point, status)
            histogram = self.plugins.get(key)
            if histogram is None:
                histogram = self.plugins[key] = Histogram(_PLUGIN_BOUNDS)
            histogram.observe(seconds)


class _StandIn:
    """A plugin whose calls are timed."""

    def __init__(self, plugin: Plugin, times: PointTimes) -> None:
        self._plugin = plugin
        for method, (point, judge) in _METHODS.items():
            if hasattr(plugin, method):
                setattr(self, method, partial(times.call, plugin, point, judge, getattr(plugin, method)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugin, name)
