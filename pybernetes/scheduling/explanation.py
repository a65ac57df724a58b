"""What every plugin says of every node for a pod, for people: a decision needs less."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pybernetes.scheduling.columns import Bools, Ints
from pybernetes.scheduling.cycle import Cycle, not_restricted
from pybernetes.scheduling.evaluation import Active
from pybernetes.scheduling.plugin import Rejection
from pybernetes.scheduling.pods import Pod


class Verdict(NamedTuple):
    """Nodes that a filter turns down for a reason."""

    plugin: str
    reason: str
    nodes: tuple[str, ...]


class Scored(NamedTuple):
    """What a node is worth to a pod: all in all, and by plugin."""

    node: str
    total: int
    parts: dict[str, int]


class Explanation(NamedTuple):
    """All about one decision. A node that several filters turn down is in the verdicts of each."""

    rejection: str  # why no node was looked at
    verdicts: tuple[Verdict, ...]
    feasible: int  # how many nodes no filter turns down
    best: tuple[str, ...]  # all that are equally good: chance decides among them
    scores: tuple[Scored, ...]  # of the best few


def explain(cycle: Cycle, pod: Pod, limit: int = 10) -> Explanation:
    """Ask every filter about every node and every score plugin about those that can be; ``limit`` scores are shown."""
    answer = cycle.restriction(pod)
    if isinstance(answer, Rejection):
        return Explanation(f"{answer.plugin}: {answer.message}", (), 0, (), ())
    names, restricting = answer
    active, rows = cycle.active(pod), cycle.rows_of(names)
    verdicts: list[Verdict] = []
    if names is not None:
        others = np.setdiff1d(cycle.rows_of(None), rows)
        if len(others):
            plugins = " ".join(sorted(restricting))
            verdicts.append(Verdict(plugins, not_restricted(restricting), _names(cycle, others)))
    feasible: Bools = np.ones(len(rows), dtype=np.bool_)
    for plugin, codes in cycle.verdicts(pod, active, rows):
        for code in np.unique(codes[codes != 0]):
            where = _names(cycle, rows[codes == code])
            verdicts += [Verdict(plugin.name, reason, where) for reason in plugin.reasons(pod, int(code))]
        feasible &= codes == 0
    return Explanation(
        "", tuple(verdicts), int(feasible.sum()), *_scores(cycle, pod, active, rows[feasible], limit)
    )


def _names(cycle: Cycle, rows: Ints) -> tuple[str, ...]:
    names = cycle.snapshot.names
    return tuple(names[row] for row in rows.tolist())


def _scores(
    cycle: Cycle, pod: Pod, active: Active, rows: Ints, limit: int
) -> tuple[tuple[str, ...], tuple[Scored, ...]]:
    if not len(rows):
        return (), ()
    total = np.zeros(len(rows), dtype=np.int64)
    parts: dict[str, Ints] = {}
    for plugin, weight in active.scores:
        scores = plugin.score(pod, rows)
        if plugin.normalizes:
            scores = plugin.normalize(pod, scores, rows)
        parts[plugin.name] = scores * weight
        total += parts[plugin.name]
    order = np.argsort(-total, kind="stable")[:limit].tolist()
    names = cycle.snapshot.names
    return _names(cycle, rows[total == total.max()]), tuple(
        Scored(names[int(rows[at])], int(total[at]), {name: int(part[at]) for name, part in parts.items()})
        for at in order
    )
