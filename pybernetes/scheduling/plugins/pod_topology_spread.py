"""PodTopologySpread: pods of a kind are spread evenly over the values of a node label."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from itertools import count
from typing import NamedTuple

import numpy as np

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names
from pybernetes.scheduling.affinity_terms import HOSTNAME, ZONE, SpreadConstraint, spread_constraint
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, NODE, TARGET_POD, Action, Interest
from pybernetes.scheduling.columns import Bools, Ints, LabelColumn, Rows
from pybernetes.scheduling.counters import Counter
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.plugin import MAX_SCORE, FilterPlugin, Scope, ScorePlugin
from pybernetes.scheduling.plugins.node_affinity import matching
from pybernetes.scheduling.plugins.taint_toleration import turns_away
from pybernetes.scheduling.pods import Labels, Pod

REASON = "node(s) didn't match pod topology spread constraints"
REASON_LABEL = f"{REASON} (missing required label)"
_MISSING, _SKEWED = -1, 1
_IGNORED = -1  # the score of a node that lacks a label
_MOST_KNOWN = 64
SYSTEM_DEFAULTS = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
    {"topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 5},
)


class _Base(NamedTuple):
    """Which nodes constraints look at that honor the same, as of a change of nodes."""

    moment: int
    number: int  # of these nodes and no others
    mask: Bools


class _Eligible(NamedTuple):
    """Which nodes a constraint looks at; None stands for all that have the label."""

    mask: Bools | None
    present: Bools  # which values of the label these nodes have


_Bases = dict[tuple[bool, bool], _Base]  # by whether affinity and taints are honored


class PodTopologySpread(FilterPlugin, ScorePlugin):
    """Constraints that must hold filter, the others score. Pods without any get those of the configuration."""

    name = "PodTopologySpread"
    points = ("preFilter", "filter", "preScore", "score")
    filter_scope = score_scope = Scope.CLUSTER
    normalizes = True

    @classmethod
    def default_arguments(cls, given: Object) -> Object:
        return {**given, "defaultingType": given.get("defaultingType") or "System"}

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        kind, constraints = (
            arguments.get("defaultingType") or "System",
            arguments.get("defaultConstraints") or [],
        )
        if kind not in ("System", "List"):
            errors.unsupported(path / "defaultingType", kind, ["System", "List"])
        elif kind == "System" and constraints:
            errors.invalid(path / "defaultingType", kind, "when .defaultConstraints are not empty")
        seen: set[tuple[str, str]] = set()
        for index, constraint in enumerate(constraints):
            where = (path / "defaultConstraints")[index]
            key, action = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
            if constraint.get("maxSkew", 0) <= 0:
                errors.invalid(where / "maxSkew", constraint.get("maxSkew", 0), "not in valid range (0, inf)")
            if not key:
                errors.required(where / "topologyKey", "can not be empty")
            else:
                for problem in names.qualified_name(key):
                    errors.invalid(where / "topologyKey", key, problem)
            if not action:
                errors.required(where / "whenUnsatisfiable", "can not be empty")
            elif action not in ("DoNotSchedule", "ScheduleAnyway"):
                errors.unsupported(where / "whenUnsatisfiable", action, ["DoNotSchedule", "ScheduleAnyway"])
            if constraint.get("labelSelector") is not None:
                text = "constraint must not define a selector, as they deduced for each pod"
                errors.forbidden(where / "labelSelector", text)
            if (key, action) in seen:
                errors.duplicate(where, f"{{{key}, {action}}}")
            seen.add((key, action))

    def __init__(self, handle: Handle, arguments: Object) -> None:
        super().__init__(handle, arguments)
        self._system = arguments["defaultingType"] == "System"
        self._defaults = SYSTEM_DEFAULTS if self._system else tuple(arguments.get("defaultConstraints") or ())
        self._bases: dict[Hashable, _Base] = {}
        self._numbers = count()
        self._eligible: dict[tuple[str, int], _Eligible] = {}

    def constraints(self, pod: Pod, hard: bool) -> list[SpreadConstraint]:
        """Return the constraints of a pod that are required, or those that are preferred."""
        if pod.shape.spread:
            return [constraint for constraint in pod.shape.spread if constraint.hard is hard]
        action = "DoNotSchedule" if hard else "ScheduleAnyway"
        wanted = [constraint for constraint in self._defaults if constraint["whenUnsatisfiable"] == action]
        if not wanted:
            return []
        selector = self.listers.default_selector(pod)
        if not selector.requirements:
            return []
        return [spread_constraint(constraint, {}, selector) for constraint in wanted]

    # -- filter ------------------------------------------------------------------------------------------

    def filter_key(self, pod: Pod) -> Hashable | None:
        return True if self.constraints(pod, hard=True) else None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        constraints = self.constraints(pod, hard=True)
        keys = tuple(constraint.topology_key for constraint in constraints)
        codes = np.zeros(len(self.snapshot.valid[rows]), dtype=np.int64)
        bases: _Bases = {}
        for constraint in constraints:
            label = self.snapshot.label(constraint.topology_key)
            eligible = self._eligible_nodes(pod, constraint, keys, bases)
            counts = self._counts(pod, constraint, label, eligible)
            counts = np.where(eligible.present, counts, 0)
            domains = int(eligible.present.sum())
            least = int(counts[eligible.present].min()) if domains >= max(constraint.min_domains, 1) else 0
            own = constraint.selector.matches(pod.shape.labels.labels)
            table = np.where(counts + own - least > constraint.max_skew, _SKEWED, 0)
            table[0] = _MISSING
            domain_counts = table[label.codes[rows]]
            codes = np.where(codes == 0, domain_counts, codes) if codes.any() else domain_counts
        return codes

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON_LABEL if code == _MISSING else REASON,)

    def _counter(self, pod: Pod, constraint: SpreadConstraint) -> Counter | None:
        """Return the counter of the pods that a constraint is about; as upstream, an empty selector counts none."""
        if constraint.text == "":
            return None
        namespace, selector = pod.namespace, constraint.selector

        def matches(labels: Labels) -> bool:
            return labels.namespace == namespace and selector.matches(labels.labels)

        text = constraint.text
        return self.snapshot.counter(("spread", namespace, text), matches, False, len(text))

    def _counts(
        self, pod: Pod, constraint: SpreadConstraint, label: LabelColumn, eligible: _Eligible
    ) -> Ints:
        """Return how many of the pods each value of the topology label has, on the eligible nodes."""
        counter = self._counter(pod, constraint)
        if counter is None:
            return np.zeros(len(label.values), dtype=np.int64)
        if eligible.mask is None:
            return self.snapshot.sums(counter, constraint.topology_key)[1]
        size = self.snapshot.size
        weights = np.where(eligible.mask, counter.column[:size], 0)
        return np.bincount(label.codes[:size], weights=weights, minlength=len(label.values)).astype(np.int64)

    def _eligible_nodes(
        self, pod: Pod, constraint: SpreadConstraint, keys: tuple[str, ...], bases: _Bases
    ) -> _Eligible:
        """Return which nodes count for a constraint; ``bases`` are those of the pod's other constraints so far."""
        honored = constraint.honors_affinity, constraint.honors_taints
        base = bases.get(honored)
        if base is None:
            base = bases[honored] = self._base(pod, keys, *honored)
        cache = constraint.topology_key, base.number
        known = self._eligible.get(cache)
        if known is not None:
            return known
        label = self.snapshot.label(constraint.topology_key)
        codes = label.codes[self.snapshot.all]
        present = np.bincount(codes[base.mask], minlength=len(label.values)) > 0
        present[0] = False
        everywhere = bool(np.array_equal(base.mask, codes != 0))
        if len(self._eligible) > _MOST_KNOWN:
            self._eligible.clear()
        known = self._eligible[cache] = _Eligible(None if everywhere else base.mask, present)
        return known

    def _base(self, pod: Pod, keys: tuple[str, ...], honors_affinity: bool, honors_taints: bool) -> _Base:
        """Return the nodes with all the labels, once for all constraints of a pod: each has as many keys as there are."""
        snapshot, moment = self.snapshot, self.snapshot.places.position
        affinity = pod.shape.node_affinity if honors_affinity else None
        if affinity is not None and not affinity.restricts:
            affinity = None
        tolerations = pod.shape.tolerations if honors_taints else None
        cache = keys, affinity, tolerations
        known = self._bases.get(cache)
        if known is not None and known.moment == moment:
            return known
        rows = snapshot.all
        mask = snapshot.valid[rows].copy()
        for key in keys:
            mask &= snapshot.label(key).codes[rows] != 0
        if affinity is not None:
            mask &= matching(snapshot, affinity, rows)
        if tolerations is not None:
            blocked = snapshot.taints.lookup(lambda taints: turns_away(taints, tolerations), np.bool_)
            mask &= ~blocked[snapshot.taints.codes[rows]]
        if len(self._bases) > _MOST_KNOWN:
            self._bases.clear()
        known = self._bases[cache] = _Base(moment, next(self._numbers), mask)
        return known

    # -- score -------------------------------------------------------------------------------------------

    def score_key(self, pod: Pod) -> Hashable | None:
        return True if self.constraints(pod, hard=False) else None

    def score(self, pod: Pod, rows: Rows) -> Ints:
        snapshot = self.snapshot
        constraints = self.constraints(pod, hard=False)
        # The system's defaults are for all nodes; whoever writes constraints means nodes with all the labels.
        strict = bool(pod.shape.spread) or not self._system
        keys = tuple(constraint.topology_key for constraint in constraints) if strict else ()
        total = np.zeros(len(snapshot.valid[rows]), dtype=np.float64)
        bases: _Bases = {}
        kept: Bools | None = None  # nodes with all the labels, if there are others
        for key in keys:
            present = snapshot.label(key).codes[rows] != 0
            if not present.all():
                kept = present if kept is None else kept & present
        for constraint in constraints:
            label = snapshot.label(constraint.topology_key)
            codes = label.codes[rows]
            more = float(constraint.max_skew - 1)
            if constraint.topology_key == HOSTNAME:
                size = len(total) if kept is None else int(np.count_nonzero(kept))
                counter = self._counter(pod, constraint)
                added = more if counter is None else counter.column[rows] * math.log(size + 2) + more
                total += added if codes.all() else np.where(codes != 0, added, 0.0)
            else:
                eligible = self._eligible_nodes(pod, constraint, keys, bases)
                size = int(np.count_nonzero(np.bincount(codes if kept is None else codes[kept])))
                # By value of the label, of which there are few, not by node.
                by_value = self._counts(pod, constraint, label, eligible) * math.log(size + 2) + more
                by_value[0] = 0.0
                total += by_value[codes]
        scores = np.floor(total + 0.5).astype(np.int64)
        if kept is not None:
            scores[~kept] = _IGNORED
        return scores

    def normalize(self, pod: Pod, scores: Ints, rows: Ints) -> Ints:
        if not len(scores):
            return scores
        most, least = int(scores.max()), int(scores.min())
        if least == _IGNORED:
            result, counted = np.zeros_like(scores), scores != _IGNORED
            result[counted] = self.normalize(pod, scores[counted], rows)
            return result
        if most == 0:
            return np.full_like(scores, MAX_SCORE)
        return MAX_SCORE * (most + least - scores) // most

    # -- events ------------------------------------------------------------------------------------------

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(ASSIGNED_POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE, self._after_pod),
            Interest(
                TARGET_POD, Action.UPDATE_POD_TOLERATION | Action.UPDATE_POD_LABEL, self._after_own_change
            ),
            Interest(
                NODE,
                Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
                self._after_node,
            ),
        )

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        if any(changed is not None and changed.namespace != pod.namespace for changed in (old, new)):
            return False
        return any(
            _counts(constraint, old) is not _counts(constraint, new)
            for constraint in self.constraints(pod, hard=True)
        )

    def _after_own_change(self, pod: Pod, old: Pod, new: Pod) -> bool:
        constraints = self.constraints(pod, hard=True)
        if old.shape.tolerations != new.shape.tolerations and any(
            constraint.honors_taints for constraint in constraints
        ):
            return True
        return any(_counts(constraint, old) is not _counts(constraint, new) for constraint in constraints)

    def _after_node(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        keys = {constraint.topology_key for constraint in self.constraints(pod, hard=True)}
        before, after = _has_all(old, keys), _has_all(new, keys)
        if old is None or new is None or before != after:
            return before != after
        return after and (old.taints != new.taints or any(old.labels[key] != new.labels[key] for key in keys))


def _counts(constraint: SpreadConstraint, pod: Pod | None) -> bool:
    return pod is not None and constraint.selector.matches(pod.shape.labels.labels)


def _has_all(node: Node | None, keys: set[str]) -> bool:
    return node is not None and all(key in node.labels for key in keys)


PLUGIN = PodTopologySpread
