"""NodeAffinity: node selectors, required and preferred node affinity, and what the configuration adds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation.selectors import validate_node_selector, validate_node_selector_term
from pybernetes.scheduling.affinity_terms import NodeAffinity as Affinity
from pybernetes.scheduling.affinity_terms import NodeTerm
from pybernetes.scheduling.cluster_events import NODE, Action, Interest
from pybernetes.scheduling.columns import Bools, Ints, Rows
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.plugin import FilterPlugin, PreFilterPlugin, Rejection, ScorePlugin, normalized
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import Snapshot

REASON_POD = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"
_ENFORCED, _POD = -1, -2


def matching_term(snapshot: Snapshot, term: NodeTerm, rows: Rows) -> Bools:
    """Return which rows meet a term of a node selector."""
    matches = snapshot.valid[rows].copy()
    for requirement in term.requirements:
        matches &= snapshot.label(requirement.key).matching(requirement, rows)
    for name, equal in term.names:
        named = np.arange(snapshot.size)[rows] == snapshot.rows.get(name, -1)
        matches &= named if equal else ~named
    return matches


def matching(snapshot: Snapshot, affinity: Affinity, rows: Rows) -> Bools:
    """Return which rows a node affinity allows."""
    matches = snapshot.valid[rows].copy()
    for requirement in affinity.selector:
        matches &= snapshot.label(requirement.key).matching(requirement, rows)
    if affinity.required is not None:
        any_term = np.zeros(len(matches), dtype=np.bool_)
        for term in affinity.required:
            any_term |= matching_term(snapshot, term, rows)
        matches &= any_term
    return matches


class NodeAffinity(PreFilterPlugin, FilterPlugin, ScorePlugin):
    """The added affinity of the configuration holds for every pod of the profile."""

    name = "NodeAffinity"
    points = ("preFilter", "filter", "preScore", "score")
    normalizes = True

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        added = arguments.get("addedAffinity") or {}
        required = added.get("requiredDuringSchedulingIgnoredDuringExecution")
        where = path / "addedAffinity"
        if required is not None:
            validate_node_selector(required, where / "requiredDuringSchedulingIgnoredDuringExecution", errors)
        for index, term in enumerate(added.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
            place = (where / "preferredDuringSchedulingIgnoredDuringExecution")[index]
            validate_node_selector_term(term.get("preference") or {}, place, errors)

    def __init__(self, handle: Handle, arguments: Object) -> None:
        super().__init__(handle, arguments)
        self.added = Affinity({}, arguments.get("addedAffinity") or {})

    def pre_filter(self, pod: Pod) -> Rejection | frozenset[str] | None:
        affinity = pod.shape.node_affinity
        if affinity is None or affinity.names is None:
            return None
        return affinity.names or Rejection(self.name, REASON_CONFLICT)

    def filter_key(self, pod: Pod) -> Hashable | None:
        affinity = pod.shape.node_affinity
        if affinity is not None and affinity.restricts:
            return affinity
        return True if self.added.restricts else None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        affinity = pod.shape.node_affinity
        if affinity is not None and affinity.restricts:
            codes = np.where(matching(self.snapshot, affinity, rows), 0, _POD)
        else:
            codes = np.zeros(len(self.snapshot.valid[rows]), dtype=np.int64)
        if self.added.restricts:
            codes[~matching(self.snapshot, self.added, rows)] = _ENFORCED
        return codes

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON_ENFORCED if code == _ENFORCED else REASON_POD,)

    def score_key(self, pod: Pod) -> Hashable | None:
        affinity = pod.shape.node_affinity
        if affinity is not None and affinity.preferred:
            return affinity
        return True if self.added.preferred else None

    def score(self, pod: Pod, rows: Rows) -> Ints:
        total = np.zeros(len(self.snapshot.valid[rows]), dtype=np.int64)
        for affinity in (self.added, pod.shape.node_affinity):
            for weight, term in affinity.preferred if affinity is not None else ():
                total += weight * matching_term(self.snapshot, term, rows)
        return total

    def normalize(self, pod: Pod, scores: Ints, rows: Ints) -> Ints:
        return normalized(scores, reverse=False)

    def interests(self) -> Iterable[Interest]:
        return (Interest(NODE, Action.ADD | Action.UPDATE_NODE_LABEL, self._after_node),)

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> bool:
        if not self.added.matches(new.name, new.labels):
            return False
        affinity = pod.shape.node_affinity
        if affinity is None:
            return old is None or not self.added.matches(old.name, old.labels)
        if not affinity.matches(new.name, new.labels):
            return False
        return old is None or not affinity.matches(old.name, old.labels)


PLUGIN = NodeAffinity
