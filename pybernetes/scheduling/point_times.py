"""How long the plugins of a profile take: at each extension point, and in one decision of ten each of them.

Nothing but additions happens while pods are scheduled; whoever shows the figures makes text of them. In the decisions that
are sampled, stand-ins take the place of the plugins: they look at the clock before and after, and the others cost nothing.
A decision takes some ten microseconds: what happens in each of them is counted in nanoseconds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, TypeVar, cast

from pybernetes.lib.metrics.counts import Histogram, exponential
from pybernetes.scheduling.plugin import Outcome, Plugin, Rejection
from pybernetes.scheduling.pods import Pod

SUCCESS, UNSCHEDULABLE, ERROR, SKIP, WAIT = "Success", "Unschedulable", "Error", "Skip", "Wait"
_POINT_BOUNDS = exponential(0.0001, 2, 12)
_PLUGIN_BOUNDS = exponential(0.00001, 1.5, 20)
SHARE = 0.1  # of the decisions have each plugin timed
QUICK = _POINT_BOUNDS[0]  # a decision that takes no longer has all its points in their first bucket
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
# it succeeds if one of them will do. Scores always succeed.
_METHODS: dict[str, tuple[str, Callable[[Any], str] | None]] = {
    "pre_filter": ("PreFilter", lambda answer: SKIP if answer is None else rejected(answer)),
    "filter": ("Filter", lambda codes: UNSCHEDULABLE if codes.all() else SUCCESS),
    "filter_row": ("Filter", lambda code: UNSCHEDULABLE if code else SUCCESS),
    "post_filter": ("PostFilter", made_room),
    "score": ("Score", None),
    "score_row": ("Score", None),
    "reserve": ("Reserve", rejected),
    "permit": ("Permit", permitted),
}


class PointTimes:
    """The times of one profile. Whoever decides sets ``sampled`` first: it says whether each plugin is timed."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._points: dict[tuple[str, str], Histogram] = {}  # by point and status
        self.plugins: dict[tuple[str, str, str], Histogram] = {}  # by plugin, point and status
        # How often these filters and scores were asked together: without success, and with it.
        self._evaluations: dict[tuple[Names, Names], list[int]] = {}
        self._stand_ins: dict[int, _StandIn] = {}
        self.sampled = False
        self.scoring = 0.0  # seconds of the decision under way that went to scores
        self.random = (chance or random.Random()).random
        # Of decisions that found a node. Whoever decides adds to the totals, and counts those within QUICK.
        self.pre_filtered, self.filtered = self._point("PreFilter", SUCCESS), self._point("Filter", SUCCESS)
        self.scored = self._point("Score", SUCCESS)
        self.quick = 0

    @property
    def points(self) -> dict[tuple[str, str], Histogram]:
        """Return the times of each point, by its name and status."""
        for histogram in (self.pre_filtered, self.filtered, self.scored):
            histogram.count(QUICK, self.quick)
        self.quick = 0
        return self._points

    def slow(self, begin: float, filtering: float, end: float) -> None:
        """Count a decision that was not quick, and whose seconds are in the totals already."""
        self.pre_filtered.count(filtering - begin)
        self.filtered.count(end - filtering - self.scoring)
        self.scored.count(self.scoring)

    def point(self, point: str, status: str, since: float, without: float = 0.0) -> float:
        """Count what a point took since a moment, but for some seconds; return the time."""
        now = perf_counter()
        self._point(point, status).leave(now - since - without)
        return now

    def _point(self, point: str, status: str) -> Histogram:
        histogram = self._points.get((point, status))
        if histogram is None:
            histogram = self._points[point, status] = Histogram(_POINT_BOUNDS, lowest=QUICK)
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

        for (filters, scores), (failed, succeeded) in self._evaluations.items():
            add("PreFilter", pre_filters, failed + succeeded)
            add("Filter", filters, failed + succeeded)
            add("Score", scores, succeeded)
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

    def _plugin(self, plugin: str, point: str, status: str) -> Histogram:
        return self.plugins.setdefault((plugin, point, status), Histogram(_PLUGIN_BOUNDS))

    def clocked(self, plugin: Plugin, method: str) -> Callable[..., Any]:
        """Return a plugin's method that counts what it takes."""
        (point, judge), ask, name = _METHODS[method], getattr(plugin, method), plugin.name
        histograms: dict[str, Histogram] = {}  # by status

        def timed(pod: Pod, *arguments: Any) -> Any:
            begin = perf_counter()
            try:
                answer = ask(pod, *arguments) if arguments else ask(pod)
            except BaseException:
                self._plugin(name, point, ERROR).observe(perf_counter() - begin)
                raise
            seconds = perf_counter() - begin
            status = SUCCESS if judge is None else judge(answer)
            histogram = histograms.get(status)
            if histogram is None:
                histogram = histograms[status] = self._plugin(name, point, status)
            histogram.observe(seconds)
            return answer

        return timed


class _StandIn:
    """A plugin whose calls are timed."""

    def __init__(self, plugin: Plugin, times: PointTimes) -> None:
        self._plugin = plugin
        for method in _METHODS:
            if hasattr(plugin, method):
                setattr(self, method, times.clocked(plugin, method))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugin, name)
