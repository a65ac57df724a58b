"""InterPodAffinity: pods that must, must not, prefer to or prefer not to be near other pods."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.selectors import EVERYTHING
from pybernetes.scheduling.affinity_terms import PodTerm
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, NODE, TARGET_POD, Action, Interest
from pybernetes.scheduling.columns import Bools, Ints, LabelColumn, Rows
from pybernetes.scheduling.counters import Counter
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.plugin import MAX_SCORE, FilterPlugin, Scope, ScorePlugin
from pybernetes.scheduling.pods import Labels, Pod
from pybernetes.scheduling.term_tallies import Summed

REASON_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI = "node(s) didn't match pod anti-affinity rules"
_AFFINITY, _ANTI, _EXISTING = -1, 1, 2


class _Existing(NamedTuple):
    """The terms of pods on nodes that match a pod with certain labels."""

    moment: tuple[int, int]
    anti: tuple[PodTerm, ...]
    near: tuple[tuple[int, PodTerm, bool], ...]  # weight, term and whether it is required of that pod


class InterPodAffinity(FilterPlugin, ScorePlugin):
    """The pod's own terms count, and the terms of other pods that match it."""

    name = "InterPodAffinity"
    points = ("preFilter", "filter", "preScore", "score")
    filter_scope = score_scope = Scope.CLUSTER
    normalizes = True

    @classmethod
    def default_arguments(cls, given: Object) -> Object:
        return {"hardPodAffinityWeight": 1, **given}

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        weight = arguments.get("hardPodAffinityWeight", 1)
        if not 0 <= weight <= 100:
            errors.invalid(path / "hardPodAffinityWeight", weight, "not in valid range [0, 100]")

    def __init__(self, handle: Handle, arguments: Object) -> None:
        super().__init__(handle, arguments)
        self._hard_weight = arguments["hardPodAffinityWeight"]
        self._ignores_wishes = bool(arguments.get("ignorePreferredTermsOfExistingPods"))
        self._existing: WeakKeyDictionary[Labels, _Existing] = WeakKeyDictionary()

    def existing(self, pod: Pod) -> _Existing:
        """Return the affinity terms of pods on nodes that match a pod."""
        terms, labels = self.snapshot.terms, pod.shape.labels
        moment = terms.version, self.listers.version("namespaces")
        known = self._existing.get(labels)
        if known is None or known.moment != moment:
            of_namespace = self.listers.namespace_labels(pod.namespace)

            def means(term: PodTerm) -> bool:
                return term.matches(pod.namespace, of_namespace, labels.labels)

            near = [
                (self._hard_weight, term, True)
                for term in terms.required
                if self._hard_weight and means(term)
            ]
            near += [(weight, term, False) for weight, term in terms.preferred if means(term)]
            known = _Existing(moment, tuple(filter(means, terms.anti)), tuple(near))
            self._existing[labels] = known
        return known

    def _counter(self, terms: tuple[PodTerm, ...]) -> Counter:
        """Return the counter of the pods that all of a pod's own terms match."""
        version = self.listers.version("namespaces") if any(term.selects_namespaces for term in terms) else 0
        resolved = [(self._namespaces(term), term.selector) for term in terms]

        def matches(labels: Labels) -> bool:
            return all(
                (namespaces is None or labels.namespace in namespaces) and selector.matches(labels.labels)
                for namespaces, selector in resolved
            )

        texts = tuple(term.text for term in terms)
        return self.snapshot.counter(("near", texts, version), matches, weight=sum(map(len, texts)))

    def _namespaces(self, term: PodTerm) -> frozenset[str] | None:
        """Return the namespaces of a term, or None for all."""
        if term.namespace_selector.requirements:
            return term.namespaces | self.listers.namespaces(term.namespace_selector)
        return (
            None if term.namespace_selector is EVERYTHING or not term.namespace_selector else term.namespaces
        )

    def _near(self, tally: Summed, key: str) -> tuple[LabelColumn, Ints]:
        label, sums = self.snapshot.sums(tally, key)
        return label, sums

    # -- filter ------------------------------------------------------------------------------------------

    def filter_key(self, pod: Pod) -> Hashable | None:
        affinity = pod.shape.affinity
        if affinity is not None and (affinity.affinity or affinity.anti):
            return True
        if not self.snapshot.terms.anti:
            return None
        return True if self.existing(pod).anti else None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        snapshot, affinity = self.snapshot, pod.shape.affinity
        codes = np.zeros(len(snapshot.valid[rows]), dtype=np.int64)
        for term in self.existing(pod).anti if snapshot.terms.anti else ():
            codes[self._in_reach(snapshot.terms.anti[term], term.topology_key, rows)] = _EXISTING
        if affinity is None:
            return codes
        for term in affinity.anti:
            codes[self._in_reach(self._counter((term,)), term.topology_key, rows)] = _ANTI
        if affinity.affinity:
            codes[~self._satisfied(pod, affinity.affinity, rows)] = _AFFINITY
        return codes

    def _in_reach(self, tally: Summed, key: str, rows: Rows) -> Bools:
        """Return which rows share the value of a label with any pod that was counted."""
        label, sums = self._near(tally, key)
        there = sums > 0
        there[0] = False
        return there[label.codes[rows]]

    def _satisfied(self, pod: Pod, terms: tuple[PodTerm, ...], rows: Rows) -> Bools:
        counter = self._counter(terms)
        has_labels = self.snapshot.valid[rows].copy()
        near = has_labels.copy()
        anywhere = False
        for term in terms:
            label, sums = self._near(counter, term.topology_key)
            there = sums > 0
            there[0] = False
            anywhere = anywhere or bool(there.any())
            codes = label.codes[rows]
            has_labels &= codes != 0
            near &= there[codes]
        if not anywhere and counter.matches(pod.shape.labels):
            return has_labels  # the first of a group that wants to be together
        return near

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return ({_AFFINITY: REASON_AFFINITY, _ANTI: REASON_ANTI, _EXISTING: REASON_EXISTING}[code],)

    # -- score -------------------------------------------------------------------------------------------

    def _existing_wishes(self, pod: Pod) -> tuple[tuple[int, PodTerm, bool], ...]:
        own = pod.shape.affinity is not None and pod.shape.affinity.preferred
        if self._ignores_wishes and not own:
            return ()
        if not self.snapshot.terms.preferred and not self.snapshot.terms.required:
            return ()
        return self.existing(pod).near

    def score_key(self, pod: Pod) -> Hashable | None:
        affinity = pod.shape.affinity
        if affinity is not None and affinity.preferred:
            return True
        return True if self._existing_wishes(pod) else None

    def score(self, pod: Pod, rows: Rows) -> Ints:
        terms = self.snapshot.terms
        tables: dict[str, tuple[LabelColumn, Ints]] = {}

        def add(weight: int, tally: Summed, key: str) -> None:
            label, sums = self._near(tally, key)
            known = tables.get(key)
            tables[key] = (label, sums * weight if known is None else known[1] + sums * weight)

        if pod.shape.affinity is not None:
            for weight, term in pod.shape.affinity.preferred:
                add(weight, self._counter((term,)), term.topology_key)
        for weight, term, required in self._existing_wishes(pod):
            add(
                weight, terms.required[term] if required else terms.preferred[weight, term], term.topology_key
            )
        total = np.zeros(len(self.snapshot.valid[rows]), dtype=np.int64)
        for label, table in tables.values():
            table = table.copy()
            table[0] = 0
            total += table[label.codes[rows]]
        return total

    def normalize(self, pod: Pod, scores: Ints, rows: Ints) -> Ints:
        least, most = int(scores.min()), int(scores.max())
        if most == least:
            return np.zeros_like(scores)
        return (MAX_SCORE * ((scores - least) / (most - least))).astype(np.int64)

    # -- events ------------------------------------------------------------------------------------------

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(ASSIGNED_POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE, self._after_pod),
            Interest(TARGET_POD, Action.UPDATE_POD_LABEL),
            Interest(NODE, Action.ADD | Action.UPDATE_NODE_LABEL, self._after_node),
        )

    def _means(self, term: PodTerm, pod: Pod) -> bool:
        of_namespace = self.listers.namespace_labels(pod.namespace)
        return term.matches(pod.namespace, of_namespace, pod.shape.labels.labels)

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        affinity = pod.shape.affinity
        wanted = affinity.affinity if affinity is not None else ()
        hated = affinity.anti if affinity is not None else ()

        def all_of(other: Pod) -> bool:
            return bool(wanted) and all(self._means(term, other) for term in wanted)

        def any_of(other: Pod) -> bool:
            return any(self._means(term, other) for term in hated)

        if old is None:
            return new is not None and all_of(new)
        if new is not None:
            return (not all_of(old) and all_of(new)) or (any_of(old) and not any_of(new))
        theirs = old.shape.affinity.anti if old.shape.affinity is not None else ()
        return any_of(old) or any(self._means(term, pod) for term in theirs)

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> bool:
        affinity = pod.shape.affinity
        if affinity is None:
            return False
        before: Mapping[str, str] = old.labels if old is not None else {}
        for term in affinity.affinity:
            value = new.labels.get(term.topology_key)
            if value is not None and (old is None or before.get(term.topology_key) != value):
                return True
        if affinity.anti and old is None:
            return True
        return any(
            term.topology_key in before and before[term.topology_key] != new.labels.get(term.topology_key)
            for term in affinity.anti
        )


PLUGIN = InterPodAffinity
