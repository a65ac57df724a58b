"""One decision: which node a pod goes to, or why to none. Pure: nothing but the snapshot is looked at."""

from __future__ import annotations

from collections.abc import Hashable
from time import perf_counter
from typing import NamedTuple

import numpy as np

from pybernetes.scheduling.columns import Bools, Ints
from pybernetes.scheduling.diagnosis import Diagnosis, diagnose
from pybernetes.scheduling.evaluation import NOT_FEASIBLE, Active, Evaluations, Weighted
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.nominations import Verdicts
from pybernetes.scheduling.plugin import FilterPlugin, Rejection, Scope
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.point_times import QUICK, SHARE, UNSCHEDULABLE, PointTimes
from pybernetes.scheduling.profile import Profile

NO_NODES = "no nodes available to schedule pods"


class Decision(NamedTuple):
    """A node, or why there is none."""

    node: str
    feasible: int  # how many nodes would have done
    diagnosis: Diagnosis | None = None


class Cycle:
    """Decides for the pods of one profile."""

    def __init__(self, handle: Handle, profile: Profile) -> None:
        self.snapshot = handle.snapshot
        self.profile = profile
        self.nominations = handle.nominations
        self._listers = handle.listers
        self.times = PointTimes()
        self._pre_filters = [(plugin.pre_filter, plugin.name) for plugin in profile.pre_filters]
        self._timed_pre_filters = [
            (self.times.clocked(plugin, "pre_filter"), plugin.name) for plugin in profile.pre_filters
        ]
        self._evaluations = Evaluations(handle.snapshot, self.times)
        self._chance = handle.chance
        self._start = 0  # where the search begins when only a share of the nodes is looked at

    def decide(self, pod: Pod) -> Decision:
        """Choose the node for a pod."""
        if not self.snapshot.node_count:
            return Decision("", 0, Diagnosis(0, NO_NODES))
        times = self.times
        times.sampled = times.random() < SHARE
        begin, times.scoring = perf_counter(), 0.0
        answer = self.restriction(pod)
        if isinstance(answer, Rejection):
            times.point("PreFilter", UNSCHEDULABLE, begin)
            return Decision("", 0, self._rejected(answer))
        filtering = perf_counter()
        active = self.active(pod)
        decision = self._among(pod, active, answer[0], answer[1])
        if not decision.node:
            times.pre_filtered.observe(filtering - begin)
            times.point("Filter", UNSCHEDULABLE, filtering, times.scoring)
            active.evaluations[0] += 1
            return decision
        end = perf_counter()
        times.pre_filtered.total += filtering - begin
        times.filtered.total += end - filtering - times.scoring
        times.scored.total += times.scoring
        if end - begin <= QUICK:
            times.quick += 1
        else:
            times.slow(begin, filtering, end)
        active.evaluations[1] += 1
        return decision

    def _among(
        self, pod: Pod, active: Active, names: frozenset[str] | None, restricting: list[str]
    ) -> Decision:
        """Choose among the named nodes, or all of them (None)."""
        if pod.nominated:
            decision = self._some(pod, active, frozenset((pod.nominated,)) & (names or {pod.nominated}), [])
            if decision.node:
                return decision
        if names is not None:
            return self._some(pod, active, names, restricting)
        return self._any(pod, active)

    def restriction(self, pod: Pod) -> Rejection | tuple[frozenset[str] | None, list[str]]:
        """Return why no node will do, or the only nodes that can (None: any) and the plugins that say so."""
        names: frozenset[str] | None = None
        restricting: list[str] = []
        for ask, plugin in self._timed_pre_filters if self.times.sampled else self._pre_filters:
            answer = ask(pod)
            if answer is None:
                continue
            if isinstance(answer, Rejection):
                return answer
            names = answer if names is None else names & answer
            restricting.append(plugin)
        return names, restricting

    def active(self, pod: Pod) -> Active:
        """Return the plugins that have something to say about a pod."""
        shape, snapshot = pod.shape, self.snapshot
        if shape.volumes is not None or pod.node:
            return self._active(pod)
        # All that the plugins' keys depend on besides the pod.
        stamp = (
            len(snapshot.taints.values),
            snapshot.image_version,
            snapshot.terms.version,
            self._listers.changes,
        )
        known = shape.active
        if known is None or known[0] != stamp:
            known = shape.active = (stamp, self._active(pod))
        return known[1]

    def _active(self, pod: Pod) -> Active:
        filters: list[FilterPlugin] = []
        scores: list[Weighted] = []
        keys: list[tuple[Hashable, ...]] = []
        for plugin in self.profile.filters:
            key = plugin.filter_key(pod)
            if key is not None:
                filters.append(plugin)
                if plugin.filter_scope is not Scope.CLUSTER:
                    keys.append((plugin.name, key))
        for weighted in self.profile.scores:
            key = weighted.plugin.score_key(pod)
            if key is not None:
                scores.append(weighted)
                if weighted.plugin.score_scope is not Scope.CLUSTER:
                    keys.append((weighted.plugin.name, True, key))
        evaluations = self.times.evaluations(
            tuple(plugin.name for plugin in filters), tuple(weighted.plugin.name for weighted in scores)
        )
        return Active(filters, scores, tuple(keys), evaluations)

    def reasons(self, pod: Pod, active: Active, row: int) -> tuple[str, ...]:
        """Return why a pod cannot be on a row as it is now; nothing if it can."""
        rows = np.array((row,), dtype=np.intp)
        promised, beside = self.nominations.verdicts(pod, active.filters, rows)
        over = {plugin.name: codes for plugin, codes in beside if len(promised)}
        for plugin in active.filters:
            for codes in (over.get(plugin.name), plugin.filter(pod, slice(row, row + 1))):
                if codes is not None and codes[0] != 0:
                    return plugin.reasons(pod, int(codes[0]))
        return ()

    # -- every node --------------------------------------------------------------------------------------

    def _any(self, pod: Pod, active: Active) -> Decision:
        snapshot = self.snapshot
        evaluation = self._evaluations.get(pod, active)
        total = evaluation.total
        world = [(plugin, (self.times.stand_in(plugin) if self.times.sampled else plugin).filter(pod, snapshot.all))
                 for plugin in active.filters if plugin.filter_scope is Scope.CLUSTER]  # fmt: skip
        if world:
            total = total.copy()
            for _, codes in world:
                total[codes != 0] = NOT_FEASIBLE
        promised, beside = self.nominations.verdicts(pod, active.filters)
        if beside:
            total = total.copy() if not world else total
            for _, codes in beside:
                total[promised[codes != 0]] = NOT_FEASIBLE
        relative = len(active.scores) > len(evaluation.scores)
        sample = self.profile.share_of_nodes(snapshot.node_count)
        if relative or sample:
            feasible = np.flatnonzero(total >= 0)
            if sample and len(feasible) > sample:
                feasible = self._sample(feasible, sample)
            if len(feasible):
                row = self._best(pod, active, feasible, total[feasible])
                return Decision(snapshot.names[row], len(feasible))
        else:
            row = self._first_best(total)
            if total[row] >= 0:
                fits = evaluation.feasible if total is evaluation.total else total >= 0
                return Decision(snapshot.names[row], int(np.count_nonzero(fits)))
        verdicts = _merged(
            [*zip(evaluation.filters, evaluation.codes, strict=True), *world], promised, beside
        )
        verdicts.sort(key=lambda verdict: active.filters.index(verdict[0]))
        return Decision("", 0, diagnose(pod, snapshot.node_count, snapshot.valid[snapshot.all], verdicts))

    def _first_best(self, total: Ints) -> int:
        """Return the best row, a random one if several are equally good."""
        start = self._chance.randrange(len(total))
        after = start + int(total[start:].argmax())
        if start == 0:
            return after
        before = int(total[:start].argmax())
        return before if total[before] > total[after] else after

    def _sample(self, feasible: Ints, count: int) -> Ints:
        """Return as many nodes as asked for, going on where the last search ended."""
        at = int(np.searchsorted(feasible, self._start % self.snapshot.size))
        chosen = np.concatenate((feasible[at:], feasible[:at]))[:count]
        self._start = int(chosen[-1]) + 1
        return chosen

    def _best(self, pod: Pod, active: Active, rows: Ints, scores: Ints) -> int:
        """Return the best of some rows, adding the scores that are relative to the other rows."""
        if len(rows) == 1:
            return int(rows[0])
        begin, scores = perf_counter(), scores.copy()
        for plugin, weight in active.scores:
            if plugin.normalizes:
                timed = self.times.stand_in(plugin) if self.times.sampled else plugin
                scores += plugin.normalize(pod, timed.score(pod, rows), rows) * weight
        self.times.scoring += perf_counter() - begin
        best = np.flatnonzero(scores == scores.max())
        return int(rows[best[self._chance.randrange(len(best))]])

    # -- a few nodes -------------------------------------------------------------------------------------

    def _some(self, pod: Pod, active: Active, names: frozenset[str], restricting: list[str]) -> Decision:
        """Decide among the named nodes only; nothing is remembered for later pods."""
        snapshot = self.snapshot
        rows = self.rows_of(names)
        verdicts = self.verdicts(pod, active, rows)
        ok: Bools = np.ones(len(rows), dtype=np.bool_)
        for _, codes in verdicts:
            ok &= codes == 0
        feasible = rows[ok]
        if len(feasible):
            scores = np.zeros(len(feasible), dtype=np.int64)
            for plugin, weight in active.scores:
                if not plugin.normalizes and len(feasible) > 1:
                    scores += plugin.score(pod, feasible) * weight
            return Decision(snapshot.names[self._best(pod, active, feasible, scores)], len(feasible))
        absent = (not_restricted(restricting), snapshot.node_count - len(rows))
        diagnosis = diagnose(
            pod, snapshot.node_count, np.ones(len(rows), dtype=np.bool_), verdicts, rows, absent
        )
        diagnosis.plugins.update(restricting)
        return Decision("", 0, diagnosis)

    def rows_of(self, names: frozenset[str] | None) -> Ints:
        """Return the rows of the named nodes, or of all nodes (None), in order."""
        snapshot = self.snapshot
        if names is None:
            return np.flatnonzero(snapshot.valid[snapshot.all])
        rows = (snapshot.rows.get(name) for name in names)
        known = sorted(row for row in rows if row is not None and snapshot.valid[row])
        return np.array(known, dtype=np.intp)

    def verdicts(self, pod: Pod, active: Active, rows: Ints) -> Verdicts:
        """Return what every filter says of some rows, with the pods there for which room is being made."""
        verdicts: Verdicts = [(plugin, plugin.filter(pod, rows)) for plugin in active.filters]
        promised, beside = self.nominations.verdicts(pod, active.filters, rows)
        return _merged(verdicts, np.searchsorted(rows, promised), beside) if beside else verdicts

    def _rejected(self, rejection: Rejection) -> Diagnosis:
        diagnosis = Diagnosis(self.snapshot.node_count)
        diagnosis.message = rejection.message
        diagnosis.plugins.add(rejection.plugin)
        return diagnosis


def not_restricted(restricting: list[str]) -> str:
    """Return the reason against nodes that are not among the only ones that can be."""
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(restricting))}]"


def _merged(verdicts: Verdicts, rows: Ints, beside: Verdicts) -> Verdicts:
    """Put the verdicts with nominated pods on some rows over the verdicts on all rows."""
    if not beside:
        return verdicts
    over = {plugin.name: codes for plugin, codes in beside}
    result: Verdicts = []
    for plugin, codes in verdicts:
        if plugin.name in over:
            codes = codes.copy()
            codes[rows] = np.where(over[plugin.name] != 0, over[plugin.name], codes[rows])
        result.append((plugin, codes))
    return result
