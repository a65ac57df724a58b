"""What the plugins said of every node for pods of one kind, kept and brought up to date row by row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from pybernetes.scheduling.columns import Bools, Ints, Rows
from pybernetes.scheduling.plugin import FilterPlugin, Scope, ScorePlugin
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.point_times import PointTimes
from pybernetes.scheduling.snapshot import Snapshot

NOT_FEASIBLE = -1
FEW = 8  # rows that are faster worked out one by one


class Weighted(NamedTuple):
    """A score plugin and how much it counts."""

    plugin: ScorePlugin
    weight: int


class Active(NamedTuple):
    """The plugins that have something to say about a pod, in order."""

    filters: list[FilterPlugin]
    scores: list[Weighted]
    key: Hashable
    evaluations: list[int]  # how often they were asked: without and with success


class _Asked(NamedTuple):
    """The plugins of an evaluation, themselves or with a clock, and what to call for one row (None: it stays as it is)."""

    filters: list[FilterPlugin]
    scores: list[Weighted]
    relative: list[Weighted]
    filter_rows: list[tuple[Callable[[Pod, int], int] | None, Ints]]
    score_rows: list[tuple[Callable[[Pod, int], int] | None, int, Ints]]
    relative_rows: list[tuple[Callable[[Pod, int], int], Ints]]


class Evaluation:
    """The answers of the plugins for pods of equal keys: reasons, feasible nodes and their total score."""

    def __init__(self, snapshot: Snapshot, active: Active, times: PointTimes) -> None:
        self.snapshot, self._times = snapshot, times
        self.filters = [plugin for plugin in active.filters if plugin.filter_scope is not Scope.CLUSTER]
        self.scores = [weighted for weighted in active.scores if not weighted.plugin.normalizes]
        # The scores of these are worked out among the feasible nodes, once those are known.
        self.relative = [
            weighted for weighted in active.scores
            if weighted.plugin.normalizes and weighted.plugin.score_scope is not Scope.CLUSTER
        ]  # fmt: skip
        self._plain: _Asked | None = None  # and with a clock: made when first asked for
        self._timed: _Asked | None = None
        self.codes: list[Ints] = []
        self.parts: list[Ints] = []  # weighted scores of each of `scores`
        self.raw: list[Ints] = []  # of each of `relative`
        self.feasible: Bools = np.zeros(0, dtype=np.bool_)
        self.total: Ints = np.zeros(0, dtype=np.int64)  # NOT_FEASIBLE where a pod cannot be
        self._changes = self._places = -1

    def update(self, pod: Pod) -> None:
        """Catch up with what has changed since the last time."""
        snapshot = self.snapshot
        size = snapshot.size
        changed = snapshot.changes.since(self._changes) if len(self.feasible) == size else None
        moved = snapshot.places.since(self._places)
        if self._changes < 0 or changed is None or moved is None or 16 < len(changed) > size // 4:
            self._allocate(size)
            self._work_out(pod, snapshot.all, Scope.NODE_LABELS)
        else:
            if moved:
                self._work_out(pod, _rows(moved), Scope.NODE_LABELS)
            if len(changed) == 1:
                self._work_out_row(pod, changed[0])
            elif len(rows := set(changed)) <= FEW:
                for row in rows:
                    self._work_out_row(pod, row)
            else:
                self._work_out(pod, _rows(changed), Scope.NODE)
        self._changes, self._places = snapshot.changes.position, snapshot.places.position

    def _allocate(self, size: int) -> None:
        self.feasible = np.zeros(size, dtype=np.bool_)
        self.total = np.zeros(size, dtype=np.int64)
        self.codes = [np.zeros(size, dtype=np.int64) for _ in self.filters]
        self.parts = [np.zeros(size, dtype=np.int64) for _ in self.scores]
        self.raw = [np.zeros(size, dtype=np.int64) for _ in self.relative]
        self._plain = self._timed = None

    def _work_out(self, pod: Pod, rows: Rows, since: Scope) -> None:
        """Ask the plugins whose answer may have changed about some rows."""
        filters, scores, relative, *_ = self._asked()
        feasible = self.snapshot.valid[rows].copy()
        for plugin, codes in zip(filters, self.codes, strict=True):
            if plugin.filter_scope >= since:
                codes[rows] = plugin.filter(pod, rows)
            feasible &= codes[rows] == 0
        begin = perf_counter()
        total = np.zeros(len(feasible), dtype=np.int64)
        for (scorer, weight), part in zip(scores, self.parts, strict=True):
            if scorer.score_scope >= since:
                part[rows] = scorer.score(pod, rows) * weight
            total += part[rows]
        for (scorer, _), raw in zip(relative, self.raw, strict=True):
            if scorer.score_scope >= since:
                raw[rows] = scorer.score(pod, rows)
        total[~feasible] = NOT_FEASIBLE
        self.feasible[rows] = feasible
        self.total[rows] = total
        self._times.scoring += perf_counter() - begin

    def _work_out_row(self, pod: Pod, row: int) -> None:
        """Ask the plugins again about one row where pods or amounts changed."""
        _, _, _, filters, scores, relative = self._asked()
        feasible = self.snapshot.valid.item(row)
        for ask, codes in filters:
            if ask is None:
                code = codes.item(row)
            else:
                codes[row] = code = ask(pod, row)
            if code != 0:
                feasible = False
        begin, total = perf_counter(), 0
        for ask, weight, part in scores:
            if ask is None:
                total += part.item(row)
            else:
                part[row] = score = ask(pod, row) * weight
                total += score
        for ask, raw in relative:
            raw[row] = ask(pod, row)
        self.feasible[row] = feasible
        self.total[row] = total if feasible else NOT_FEASIBLE
        self._times.scoring += perf_counter() - begin

    def _asked(self) -> _Asked:
        """Return the plugins as they are asked in the decision under way."""
        if self._times.sampled:
            if self._timed is None:
                self._timed = self._ask(self._times.stand_in)
            return self._timed
        if self._plain is None:
            self._plain = self._ask(lambda plugin: plugin)
        return self._plain

    def _ask(self, who: Callable[[Any], Any]) -> _Asked:
        """Prepare to ask the plugins, or who stands for them."""
        filters = [who(plugin) for plugin in self.filters]
        scores = [Weighted(who(plugin), weight) for plugin, weight in self.scores]
        relative = [Weighted(who(plugin), weight) for plugin, weight in self.relative]
        return _Asked(
            filters,
            scores,
            relative,
            [
                (plugin.filter_row if plugin.filter_scope is Scope.NODE else None, codes)
                for plugin, codes in zip(filters, self.codes, strict=True)
            ],
            [
                (plugin.score_row if plugin.score_scope is Scope.NODE else None, weight, part)
                for (plugin, weight), part in zip(scores, self.parts, strict=True)
            ],
            [
                (plugin.score_row, raw)
                for (plugin, _), raw in zip(relative, self.raw, strict=True)
                if plugin.score_scope is Scope.NODE
            ],
        )


def _rows(numbers: list[int]) -> Rows:
    if len(numbers) == 1:
        return slice(numbers[0], numbers[0] + 1)
    distinct = set(numbers)
    if len(distinct) == 1:
        return slice(numbers[0], numbers[0] + 1)
    return np.fromiter(distinct, dtype=np.intp, count=len(distinct))


class Evaluations:
    """The evaluations of recent pods."""

    LIMIT = 24

    def __init__(self, snapshot: Snapshot, times: PointTimes) -> None:
        self._snapshot, self._times = snapshot, times
        self._known: OrderedDict[Hashable, Evaluation] = OrderedDict()

    def get(self, pod: Pod, active: Active) -> Evaluation:
        """Return the evaluation for a pod, up to date."""
        evaluation = self._known.get(active.key)
        if evaluation is None:
            if len(self._known) >= self.LIMIT:
                self._known.popitem(last=False)
            evaluation = self._known[active.key] = Evaluation(self._snapshot, active, self._times)
        else:
            self._known.move_to_end(active.key)
        evaluation.update(pod)
        return evaluation
