"""Which pods to evict so that a pod fits: upstream's rules. Pure, but for trying things out on the snapshot."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from pybernetes.scheduling.columns import Bools, Ints
from pybernetes.scheduling.cycle import Cycle
from pybernetes.scheduling.diagnosis import NOT_HELPFUL, Diagnosis, histogram
from pybernetes.scheduling.disruption_budgets import Budgets, split_by_budget
from pybernetes.scheduling.evaluation import Active
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.nominations import is_plain
from pybernetes.scheduling.plugin import Outcome, Scope
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import Snapshot

NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
NO_VICTIMS = "No preemption victims found for incoming pod"
_NOT_STARTED = "~"  # later than any date
_COST, _STARTED = attrgetter("cost"), attrgetter("started")


class Candidate(NamedTuple):
    """A node, and the pods that would have to go, the most important first."""

    row: int
    victims: tuple[Pod, ...]
    violations: int  # of disruption budgets
    cost: tuple[int, int, int, int]  # the worst first; the same for two nodes means that they are as good
    started: str  # when the first of the most important victims started

    @classmethod
    def of(cls, row: int, victims: Sequence[Pod], violations: int) -> Candidate:
        """Make a candidate, working out what it would cost."""
        highest = victims[0].priority
        importance = sum(victim.priority + 2**31 for victim in victims)
        started = min(_start(victim) for victim in victims if victim.priority == highest)
        cost = (violations, highest, importance, len(victims))
        return cls(row, tuple(victims), violations, cost, started)


def _start(pod: Pod) -> str:
    return pod.started or _NOT_STARTED


def by_importance(pod: Pod) -> tuple[int, str]:
    """Return the sort key that puts the most important pods first: by priority, then by start time."""
    return -pod.priority, _start(pod)


def cheapest(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that does the least harm; of equals the one whose pods started last."""
    least = min(map(_COST, candidates))
    return max([candidate for candidate in candidates if candidate.cost == least], key=_STARTED)


class Remembered:
    """The candidates of pods with equal requests, as long as neither the nodes nor the disruption budgets change."""

    LIMIT = 8

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[Hashable, dict[int, Candidate | None]] = {}
        self._seen = 0
        self._budgets: Budgets | None = None

    def of(self, pod: Pod, budgets: Budgets) -> dict[int, Candidate | None]:
        """Return the candidates known for pods like this one, by row."""
        changed = self._snapshot.changes.since(self._seen)
        self._seen = self._snapshot.changes.position
        if changed is None or budgets is not self._budgets:
            self._known.clear()
            self._budgets = budgets
        for known in self._known.values():
            for row in changed or ():
                known.pop(row, None)
        key = (pod.priority, pod.requests.amounts)
        candidates = self._known.get(key)
        if candidates is None:
            if len(self._known) >= self.LIMIT:
                del self._known[next(iter(self._known))]
            candidates = self._known[key] = {}
        return candidates


class Preemption:
    """Finds room for the pods of one profile. ``enough`` says how many candidates to find among some nodes."""

    def __init__(self, handle: Handle, cycle: Cycle, enough: Callable[[int], int]) -> None:
        self._snapshot, self._cycle = handle.snapshot, cycle
        self._nominations, self._listers = handle.nominations, handle.listers
        self._chance = handle.chance
        self._enough = enough
        self._remembered = Remembered(handle.snapshot)
        self._known_budgets = -1, Budgets(())  # as of which version of the list

    def find(self, pod: Pod, diagnosis: Diagnosis) -> Outcome:
        """Find the node where a pod would fit if others were evicted, after a cycle that found none."""
        why_not = self._why_not(pod, diagnosis)
        if why_not:
            return Outcome(None, (), why_not)
        rows = diagnosis.resolvable
        counts: dict[str, int] = {}
        candidates = self._candidates(pod, rows, counts) if len(rows) else []
        if not candidates:
            counts[NOT_HELPFUL] = counts.get(NOT_HELPFUL, 0) + self._snapshot.node_count - len(rows)
            text = histogram(
                self._snapshot.node_count, {reason: count for reason, count in counts.items() if count}
            )
            return Outcome("", (), text)
        best = cheapest(candidates)
        node, count = self._snapshot.names[best.row], len(best.victims)
        text = f"found a potential placement for pod on node {node}, preempting {count} victims"
        return Outcome(node, best.victims, text, best.violations)

    def _why_not(self, pod: Pod, diagnosis: Diagnosis) -> str:
        if not pod.shape.preempts:
            return NEVER
        row = self._snapshot.rows.get(pod.nominated) if pod.nominated else None
        if row is not None and row in diagnosis.resolvable:
            for other in self._snapshot.pods[row].values():
                if other.priority < pod.priority and other.deleting and other.preempted:
                    return TERMINATING
        return ""

    def _budgets(self) -> Budgets:
        version = self._listers.version("poddisruptionbudgets")
        if self._known_budgets[0] != version:
            self._known_budgets = version, Budgets(self._listers.all("poddisruptionbudgets"))
        return self._known_budgets[1]

    # -- candidates --------------------------------------------------------------------------------------

    def _candidates(self, pod: Pod, rows: Ints, counts: dict[str, int]) -> list[Candidate]:
        """Return enough nodes where evictions would help, counting the reasons against the others."""
        below = self._snapshot.below(pod.priority)
        helpless = below.pods[rows] == 0
        counts[NO_VICTIMS] = int(helpless.sum())
        rows = rows[~helpless]
        if not len(rows):
            return []
        offset = self._chance.randrange(len(rows))
        rows = np.concatenate((rows[offset:], rows[:offset]))
        wanted = self._enough(len(rows) + counts[NO_VICTIMS])
        active = self._cycle.active(pod)
        budgets = self._budgets()
        if self._is_simple(pod, active):
            return self._by_amounts(pod, active, rows, wanted, budgets, counts)
        return self._by_trial(pod, active, rows, wanted, budgets, counts)

    def _is_simple(self, pod: Pod, active: Active) -> bool:
        """Return whether nothing but amounts is in the way, as far as other pods are concerned."""
        if not is_plain(pod) or not self._nominations.all_plain:
            return False
        counting = [plugin for plugin in active.filters if plugin.filter_scope is not Scope.NODE_LABELS]
        return bool(counting) and all(plugin.counts_amounts_only for plugin in counting)

    def _by_trial(
        self, pod: Pod, active: Active, rows: Ints, wanted: int, budgets: Budgets, counts: dict[str, int]
    ) -> list[Candidate]:
        """Find candidates by taking pods off the snapshot and putting them back, asking every plugin each time."""
        candidates: list[Candidate] = []
        harmless = False
        for row in rows:
            candidate = self._try(pod, active, int(row), budgets, counts)
            if candidate is not None:
                candidates.append(candidate)
                harmless = harmless or not candidate.violations
                if harmless and len(candidates) >= wanted:
                    break
        return candidates

    def _try(
        self, pod: Pod, active: Active, row: int, budgets: Budgets, counts: dict[str, int]
    ) -> Candidate | None:
        snapshot = self._snapshot
        lower = sorted(
            (other for other in snapshot.pods[row].values() if other.priority < pod.priority),
            key=by_importance,
        )
        gone: list[Pod] = []
        try:
            for victim in lower:
                snapshot.remove_pod(victim)
                gone.append(victim)
            reasons = self._cycle.reasons(pod, active, row)
            if reasons:
                for reason in reasons:
                    counts[reason] = counts.get(reason, 0) + 1
                return None
            violations = 0
            violating, others = split_by_budget(lower, budgets)
            for victim in (*violating, *others):
                snapshot.add_pod(victim)
                gone.remove(victim)
                if self._cycle.reasons(pod, active, row):
                    snapshot.remove_pod(victim)
                    gone.append(victim)
                    violations += victim in violating
            victims = sorted(gone, key=by_importance)
        finally:
            for victim in gone:
                snapshot.add_pod(victim)
        return Candidate.of(row, victims, violations) if victims else None

    def _by_amounts(
        self, pod: Pod, active: Active, rows: Ints, wanted: int, budgets: Budgets, counts: dict[str, int]
    ) -> list[Candidate]:
        """Find candidates for a pod that only wants amounts: all nodes at once, then the victims of a few by sums."""
        below, extra = self._snapshot.below(pod.priority), self._nominations.extra(pod, rows)
        fits: Bools = np.ones(len(rows), dtype=np.bool_)
        for plugin in active.filters:
            if not plugin.counts_amounts_only:
                continue
            codes = plugin.filter_without(pod, rows, below, extra)
            refused = codes[fits & (codes != 0)]
            for code, count in zip(*np.unique(refused, return_counts=True), strict=True):
                for reason in plugin.reasons(pod, int(code)):
                    counts[reason] = counts.get(reason, 0) + int(count)
            fits &= codes == 0
        known = self._remembered.of(pod, budgets)
        # The own nomination is nobody else's: what is remembered of that row does not count.
        known.pop(own := self._snapshot.rows.get(self._nominations.node_of(pod.uid), -1), None)
        fitting = rows[fits]
        candidates: list[Candidate] = []
        for start in range(0, len(fitting), wanted):  # usually the first so many are enough
            some = fitting[start : start + wanted].tolist()
            for row in [row for row in some if row not in known]:
                known[row] = self._least(pod, row, budgets)
            candidates += [candidate for row in some if (candidate := known[row]) is not None]
            if len(candidates) >= wanted and any(not candidate.violations for candidate in candidates):
                break
        known.pop(own, None)
        return candidates

    def _least(self, pod: Pod, row: int, budgets: Budgets) -> Candidate | None:
        """Return the fewest pods of a row that must go if a pod comes, by plain arithmetic."""
        snapshot = self._snapshot
        lower = sorted(
            (other for other in snapshot.pods[row].values() if other.priority < pod.priority),
            key=by_importance,
        )
        rivals = list(self._nominations.rivals(pod, snapshot.names[row]))
        room = int(snapshot.allowed_pods[row] - snapshot.pod_count[row]) + len(lower) - 1 - len(rivals)
        free = {}
        snapshot.deepen()
        for number, amount in pod.requests.amounts:
            left = int(snapshot.allocatable[number, row] - snapshot.requested[number, row]) - amount
            for other in lower:
                left += other.requests.amount(number)
            for other in rivals:
                left -= other.requests.amount(number)
            free[number] = left
        violating, others = split_by_budget(lower, budgets) if budgets else ([], lower)
        victims: list[Pod] = []
        violations = 0
        for number, other in enumerate((*violating, *others)):
            amounts = [(resource, amount) for resource, amount in other.requests.amounts if resource in free]
            if room >= 1 and all(free[resource] >= amount for resource, amount in amounts):
                room -= 1
                for resource, amount in amounts:
                    free[resource] -= amount
            else:
                victims.append(other)
                violations += number < len(violating)
        victims.sort(key=by_importance)
        return Candidate.of(row, victims, violations) if victims else None
