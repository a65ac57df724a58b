"""TaintToleration: taints keep pods off a node, or make it less welcome, unless they are tolerated."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from pybernetes.scheduling.affinity_terms import (
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    Taint,
    Toleration,
    is_tolerated,
)
from pybernetes.scheduling.cluster_events import NODE, TARGET_POD, Action, Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.plugin import FilterPlugin, ScorePlugin, normalized
from pybernetes.scheduling.pods import Pod

REASON = "node(s) had untolerated taint(s)"


def turns_away(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> bool:
    """Return whether any of a node's taints keeps a pod off."""
    return any(
        taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not is_tolerated(taint, tolerations) for taint in taints
    )


def unwelcome(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> int:
    """Return how many of a node's PreferNoSchedule taints a pod does not tolerate."""
    relevant = [toleration for toleration in tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)]
    return sum(taint.effect == PREFER_NO_SCHEDULE and not is_tolerated(taint, relevant) for taint in taints)


class TaintToleration(FilterPlugin, ScorePlugin):
    """Many nodes have the same taints: each set of taints is looked at once for each set of tolerations."""

    name = "TaintToleration"
    points = ("preFilter", "filter", "preScore", "score")
    normalizes = True

    def filter_key(self, pod: Pod) -> Hashable | None:
        return pod.shape.tolerations if len(self.snapshot.taints.values) > 1 else None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        tolerations, taints = pod.shape.tolerations, self.snapshot.taints
        table = taints.lookup(lambda node_taints: -1 if turns_away(node_taints, tolerations) else 0, np.int64)
        return table[taints.codes[rows]]

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON,)

    def score_key(self, pod: Pod) -> Hashable | None:
        taints = self.snapshot.taints.values
        if len(taints) == 1 or not any(
            taint.effect == PREFER_NO_SCHEDULE for node_taints in taints for taint in node_taints
        ):
            return None
        return pod.shape.tolerations

    def score(self, pod: Pod, rows: Rows) -> Ints:
        tolerations, taints = pod.shape.tolerations, self.snapshot.taints
        return taints.lookup(lambda node_taints: unwelcome(node_taints, tolerations), np.int64)[
            taints.codes[rows]
        ]

    def normalize(self, pod: Pod, scores: Ints, rows: Ints) -> Ints:
        return normalized(scores, reverse=True)

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(NODE, Action.ADD | Action.UPDATE_NODE_TAINT, _after_node),
            Interest(TARGET_POD, Action.UPDATE_POD_TOLERATION),
        )


def _after_node(pod: Pod, old: Node | None, new: Node) -> bool:
    tolerations = pod.shape.tolerations
    return (old is None or turns_away(old.taints, tolerations)) and not turns_away(new.taints, tolerations)


PLUGIN = TaintToleration
