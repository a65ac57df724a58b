"""Why a pod fits nowhere, as upstream words it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pybernetes.scheduling.columns import Bools, Ints
from pybernetes.scheduling.plugin import FilterPlugin
from pybernetes.scheduling.pods import Pod

NOT_HELPFUL = "Preemption is not helpful for scheduling"


class Diagnosis:
    """What turned a pod away: how many nodes for which reason, and by which plugins."""

    def __init__(self, node_count: int, text: str = "") -> None:
        self.node_count = node_count
        self._text = text  # instead of all that follows
        self.counts: dict[str, int] = {}
        self.plugins: set[str] = set()
        self.message = ""  # of a plugin that turned the pod away before looking at nodes
        self.after = ""  # what came of the attempt to make room
        # Rows where other pods are in the way, which is something that can be helped.
        self.resolvable: Ints = np.zeros(0, dtype=np.intp)

    def count(self, reason: str, nodes: int) -> None:
        """Count nodes that were turned down for a reason."""
        if nodes:
            self.counts[reason] = self.counts.get(reason, 0) + nodes

    def __str__(self) -> str:
        text = self._text or histogram(self.node_count, self.counts, self.message)
        return f"{text} {self.after}" if self.after else text


def histogram(node_count: int, counts: Mapping[str, int], message: str = "") -> str:
    """Say it as upstream does: ``0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.``"""
    text = f"0/{node_count} nodes are available:"
    if message:
        return f"{text} {message}."
    # Sorted as texts, as upstream sorts: 10 comes before 2.
    reasons = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f"{text} {', '.join(reasons)}." if reasons else text


def diagnose(
    pod: Pod,
    node_count: int,
    valid: Bools,
    verdicts: Iterable[tuple[FilterPlugin, Ints]],
    rows: Ints | None = None,
    absent: tuple[str, int] | None = None,
) -> Diagnosis:
    """Count the reasons: for each node, those of the first plugin that turned it down.

    ``rows`` are the numbers of the rows that the verdicts are about, if not all; ``absent`` is the reason for
    the nodes that were not looked at, and how many those are.
    """
    result = Diagnosis(node_count)
    open_ = valid.copy()
    resolvable = np.zeros(len(open_), dtype=np.bool_)
    for plugin, codes in verdicts:
        hit = open_ & (codes != 0)
        if not hit.any():
            continue
        result.plugins.add(plugin.name)
        for code, count in zip(*np.unique(codes[hit], return_counts=True), strict=True):
            for reason in plugin.reasons(pod, int(code)):
                result.count(reason, int(count))
        resolvable |= hit & (codes > 0)
        open_ &= ~hit
    if absent is not None:
        result.count(*absent)
    positions = np.flatnonzero(resolvable)
    result.resolvable = positions if rows is None else rows[positions]
    return result
