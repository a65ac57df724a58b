"""What a scheduler plugin is: it works on whole columns of nodes at a time.

A plugin tells by the key that it gives for a pod whether it has anything to say (None: no), and that pods of
equal keys get equal answers. Its scope says when an answer must be worked out again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.scheduling.cluster_events import Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import Snapshot

MAX_SCORE = 100


class Scope(IntEnum):
    """What the answer for a node depends on."""

    PLACE = 0  # the node's labels, taints, images
    ROW = 1  # also the pods on it and the amounts that it offers
    WORLD = 2  # also the pods on other nodes


class Rejection(NamedTuple):
    """No node will do, whatever it looks like."""

    plugin: str
    message: str


class Extra(NamedTuple):
    """What pods take that are not there yet but have been promised a place: columns for some rows."""

    pods: Ints
    amounts: dict[int, Ints]  # by resource number


class Plugin:
    """A plugin. It has the points that ``points`` names, as upstream's of the same name."""

    name: ClassVar[str]
    points: ClassVar[tuple[str, ...]] = ()

    def __init__(self, snapshot: Snapshot, arguments: Object, listers: Any) -> None:
        self.snapshot = snapshot
        self.arguments = arguments
        self.listers = listers

    def interests(self) -> Iterable[Interest]:
        """Return the events that may make a pod fit which this plugin has turned away."""
        return ()


class PreFilterPlugin(Plugin):
    """Looks at a pod alone, before any node."""

    def pre_filter(self, pod: Pod) -> Rejection | frozenset[str] | None:
        """Return why no node will do, or the names of the only nodes that can, or None for any node."""
        raise NotImplementedError


class FilterPlugin(Plugin):
    """Says which nodes a pod can be on."""

    filter_scope: ClassVar[Scope] = Scope.PLACE

    def filter_key(self, pod: Pod) -> Hashable | None:
        """Return what ``filter`` depends on besides the nodes; None if this plugin does not care about the pod."""
        raise NotImplementedError

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        """Return for each row 0 if the pod can be there, or the code of a reason.

        A negative number stands for what no eviction of other pods would change.
        """
        raise NotImplementedError

    def filter_row(self, pod: Pod, row: int) -> int:
        """Do ``filter`` for one row, for plugins that are faster with plain numbers than with columns of one."""
        return int(self.filter(pod, slice(row, row + 1))[0])

    def filter_beside(self, pod: Pod, rows: Ints, extra: Extra) -> Ints | None:
        """Do ``filter`` with some more pods on each row, which take amounts and nothing else.

        None: these do not change the answer.
        """
        return None

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        """Return the reasons that a code stands for, in words."""
        raise NotImplementedError


class ScorePlugin(Plugin):
    """Says which of the nodes that are left are better. With scope WORLD it is given only those."""

    score_scope: ClassVar[Scope] = Scope.PLACE
    normalizes: ClassVar[bool] = False

    def score_key(self, pod: Pod) -> Hashable | None:
        """Return what ``score`` depends on besides the nodes; None if this plugin does not care about the pod."""
        raise NotImplementedError

    def score(self, pod: Pod, rows: Rows) -> Ints:
        """Return a number for each row, from 0 to 100 unless the plugin normalizes."""
        raise NotImplementedError

    def score_row(self, pod: Pod, row: int) -> int:
        """Do ``score`` for one row, for plugins that are faster with plain numbers than with columns of one."""
        return int(self.score(pod, slice(row, row + 1))[0])

    def normalize(self, pod: Pod, scores: Ints, rows: Ints) -> Ints:
        """Turn the scores of the feasible nodes into numbers from 0 to 100."""
        return scores


def normalized(scores: Ints, reverse: bool) -> Ints:
    """Return scores as percentages of the best; in reverse, 100 less that."""
    best = int(scores.max(initial=0))
    if best == 0:
        return np.full_like(scores, MAX_SCORE if reverse else 0)
    shares = scores * MAX_SCORE // best
    return MAX_SCORE - shares if reverse else shares
