"""Which pods to evict so that a pod fits: upstream's rules. Pure, but for trying things out on the snapshot."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from pybernetes.api import selectors
from pybernetes.api.selectors import Selector
from pybernetes.scheduling.columns import Ints
from pybernetes.scheduling.cycle import Cycle
from pybernetes.scheduling.diagnosis import NOT_HELPFUL, Diagnosis, histogram
from pybernetes.scheduling.evaluation import Active
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nominations import Nominations, is_plain
from pybernetes.scheduling.plugin import Scope
from pybernetes.scheduling.plugins.default_preemption import DefaultPreemption
from pybernetes.scheduling.plugins.node_resources_fit import NodeResourcesFit
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
        """A candidate with what it would cost."""
        highest = victims[0].priority
        importance = sum(victim.priority + 2**31 for victim in victims)
        started = min(_start(victim) for victim in victims if victim.priority == highest)
        cost = (violations, highest, importance, len(victims))
        return cls(row, tuple(victims), violations, cost, started)


class Outcome(NamedTuple):
    """What came of it: a node and victims, or neither, and a message for people.

    ``nominated`` is the node to nominate the pod for; empty for none, None to leave that as it is.
    """

    nominated: str | None
    victims: tuple[Pod, ...]
    message: str
    violations: int = 0


class Budget(NamedTuple):
    """A disruption budget: which pods it is about, how many may go, and which are going already."""

    namespace: str
    selector: Selector
    allowed: int
    disrupted: frozenset[str]


def _start(pod: Pod) -> str:
    return pod.started or _NOT_STARTED


def by_importance(pod: Pod) -> tuple[int, str]:
    """What pods are sorted by, the most important first: priority, then who has been there longest."""
    return -pod.priority, _start(pod)


def split_by_budget(pods: Iterable[Pod], budgets: Sequence[Budget]) -> tuple[list[Pod], list[Pod]]:
    """The pods whose eviction would violate a budget, and the others, given that all would go in this order."""
    allowed = [budget.allowed for budget in budgets]
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        labels, violates = pod.shape.labels.labels, False
        for number, budget in enumerate(budgets):
            if budget.namespace != pod.namespace or not labels or pod.name in budget.disrupted:
                continue
            if not budget.selector or not budget.selector.matches(labels):
                continue
            allowed[number] -= 1
            if allowed[number] < 0:
                violates = True
                break
        (violating if violates else others).append(pod)
    return violating, others


def cheapest(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate that does the least harm; of equals the one whose pods have run the shortest."""
    least = min(map(_COST, candidates))
    return max([each for each in candidates if each.cost == least], key=_STARTED)


class Remembered:
    """The candidates that pods of equal wants had, as long as their nodes stay as they are."""

    LIMIT = 8

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[Hashable, dict[int, Candidate | None]] = {}
        self._seen = 0

    def of(self, pod: Pod) -> dict[int, Candidate | None]:
        """What is known, by row."""
        changed = self._snapshot.changes.since(self._seen)
        self._seen = self._snapshot.changes.position
        if changed is None:
            self._known.clear()
        for known in self._known.values():
            for row in changed or ():
                known.pop(row, None)
        key = (pod.priority, pod.requests.amounts)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= self.LIMIT:
                del self._known[next(iter(self._known))]
            found = self._known[key] = {}
        return found


class Preemption:
    """Finds room for the pods of one profile."""

    def __init__(
        self,
        snapshot: Snapshot,
        cycle: Cycle,
        plugin: DefaultPreemption,
        nominations: Nominations,
        listers: Listers,
        chance: random.Random | None = None,
    ) -> None:
        self._snapshot, self._cycle, self._plugin = snapshot, cycle, plugin
        self._nominations, self._listers = nominations, listers
        self._chance = chance or random.Random()
        self._remembered = Remembered(snapshot)

    def find(self, pod: Pod, diagnosis: Diagnosis) -> Outcome:
        """Where a pod would fit if others went, after a cycle that found nothing."""
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

    def _budgets(self) -> list[Budget]:
        found = []
        for obj in self._listers.all("poddisruptionbudgets"):
            spec, status = obj.get("spec") or {}, obj.get("status") or {}
            selector = selectors.from_object(spec.get("selector"))
            disrupted = frozenset(status.get("disruptedPods") or ())
            allowed = status.get("disruptionsAllowed", 0)
            found.append(Budget(obj["metadata"]["namespace"], selector, allowed, disrupted))
        return found

    # -- candidates --------------------------------------------------------------------------------------

    def _candidates(self, pod: Pod, rows: Ints, counts: dict[str, int]) -> list[Candidate]:
        """Enough nodes where evictions would help. Of the others the reasons are counted."""
        below = self._snapshot.below(pod.priority)
        helpless = below.pods[rows] == 0
        counts[NO_VICTIMS] = int(helpless.sum())
        rows = rows[~helpless]
        if not len(rows):
            return []
        offset = self._chance.randrange(len(rows))
        rows = np.concatenate((rows[offset:], rows[:offset]))
        wanted = self._plugin.candidates(len(rows) + counts[NO_VICTIMS])
        active = self._cycle.active(pod)
        budgets = self._budgets()
        if self._is_simple(pod, active):
            return self._by_amounts(pod, rows, wanted, budgets, counts)
        return self._by_trial(pod, active, rows, wanted, budgets, counts)

    def _is_simple(self, pod: Pod, active: Active) -> bool:
        """Whether nothing but amounts is in the way, as far as other pods are concerned."""
        plain = is_plain(pod) and not any(each.filter_scope is Scope.WORLD for each in active.filters)
        return plain and self._nominations.all_plain

    def _by_trial(
        self, pod: Pod, active: Active, rows: Ints, wanted: int, budgets: list[Budget], counts: dict[str, int]
    ) -> list[Candidate]:
        """Takes pods off the snapshot and puts them back, asking every plugin each time."""
        found: list[Candidate] = []
        harmless = False
        for row in rows:
            candidate = self._try(pod, active, int(row), budgets, counts)
            if candidate is not None:
                found.append(candidate)
                harmless = harmless or not candidate.violations
                if harmless and len(found) >= wanted:
                    break
        return found

    def _try(
        self, pod: Pod, active: Active, row: int, budgets: list[Budget], counts: dict[str, int]
    ) -> Candidate | None:
        snapshot = self._snapshot
        lower = sorted(
            (each for each in snapshot.pods[row].values() if each.priority < pod.priority), key=by_importance
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
        self, pod: Pod, rows: Ints, wanted: int, budgets: list[Budget], counts: dict[str, int]
    ) -> list[Candidate]:
        """The same for pods that only want amounts: all nodes at once, then the victims of a few by plain sums."""
        fit = self._cycle.profile.plugins["NodeResourcesFit"]
        assert isinstance(fit, NodeResourcesFit)
        codes = fit.filter_without(
            pod, rows, self._snapshot.below(pod.priority), self._nominations.extra(pod, rows)
        )
        for code, count in zip(*np.unique(codes[codes != 0], return_counts=True), strict=True):
            for reason in fit.reasons(pod, int(code)):
                counts[reason] = counts.get(reason, 0) + int(count)
        # Budgets and the own nomination are nobody else's: then nothing that is remembered counts.
        known = {} if budgets else self._remembered.of(pod)
        known.pop(own := self._snapshot.rows.get(self._nominations.node_of(pod.uid), -1), None)
        fitting = rows[codes == 0]
        found: list[Candidate] = []
        for start in range(0, len(fitting), wanted):  # usually the first so many are enough
            some = fitting[start : start + wanted].tolist()
            for row in [row for row in some if row not in known]:
                known[row] = self._least(pod, row, budgets)
            found += [candidate for row in some if (candidate := known[row]) is not None]
            if len(found) >= wanted and any(not candidate.violations for candidate in found):
                break
        known.pop(own, None)
        return found

    def _least(self, pod: Pod, row: int, budgets: list[Budget]) -> Candidate | None:
        """The pods of a row that cannot stay if a pod comes, in whole numbers."""
        snapshot = self._snapshot
        lower = sorted(
            (each for each in snapshot.pods[row].values() if each.priority < pod.priority), key=by_importance
        )
        rivals = list(self._nominations.rivals(pod, snapshot.names[row]))
        room = int(snapshot.allowed_pods[row] - snapshot.pod_count[row]) + len(lower) - 1 - len(rivals)
        free = {}
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
            amounts = [(each, amount) for each, amount in other.requests.amounts if each in free]
            if room >= 1 and all(free[each] >= amount for each, amount in amounts):
                room -= 1
                for each, amount in amounts:
                    free[each] -= amount
            else:
                victims.append(other)
                violations += number < len(violating)
        victims.sort(key=by_importance)
        return Candidate.of(row, victims, violations) if victims else None
