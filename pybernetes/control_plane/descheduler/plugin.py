"""What a plugin is: it decides which pods go. Doing it, and counting how many may, is somebody else's business."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import Struct, check_selection
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.columns import Bools, Ints

DESCHEDULE, BALANCE, FILTER, PRE_EVICTION_FILTER = "deschedule", "balance", "filter", "preevictionfilter"


class Outcome(Enum):
    """What became of an eviction; the text is the result that metrics show."""

    EVICTED = "success"
    REQUESTED = "background"  # somebody else sees to it that the pod goes
    FAILED = "error"
    NODE_LIMIT = "maximum number of evicted pods per node reached"
    NAMESPACE_LIMIT = "maximum number of evicted pods per namespace reached"
    TOTAL_LIMIT = "maximum number of evicted pods per a descheduling cycle reached"

    @property
    def leaves(self) -> bool:
        """Whether the pod goes, now or later."""
        return self in (Outcome.EVICTED, Outcome.REQUESTED)


# A plugin gives the table's rows of pods that should go, one after the other, and is told what became of each.
Decisions = Generator[int, Outcome | None, None]


class PluginError(Exception):
    """A plugin cannot do its work in this pass; the message says why."""


class Plugin:
    """What all plugins have."""

    name: ClassVar[str]
    points: ClassVar[tuple[str, ...]]
    arguments_type: ClassVar[Struct]

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        """Say what is wrong with arguments."""
        return []

    @classmethod
    def complete(cls, arguments: Object) -> Object:
        """Return arguments with their defaults."""
        return arguments

    def __init__(self, arguments: Object) -> None:
        self.arguments = arguments


class StrategyPlugin(Plugin):
    """A plugin that picks pods: at the point ``deschedule`` or, after all of those, ``balance``."""

    def decide(self, view: View) -> Decisions:
        """Give the pods that should go."""
        raise NotImplementedError


class SelectingPlugin(StrategyPlugin):
    """A plugin whose arguments name the namespaces and the labels of the pods that it is about."""

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        return check_selection(arguments)

    def selected(self, view: View) -> Bools:
        """Return the pods that may go and that the arguments select."""
        return view.evictable & view.table.selected(self.arguments)


class EvictorPlugin(Plugin):
    """A plugin that says which pods may go at all."""

    points = (FILTER, PRE_EVICTION_FILTER)

    def evictable(self, view: View) -> Bools:
        """Return which pods may go."""
        raise NotImplementedError

    def may_leave(self, view: View, row: int) -> bool:
        """Return whether a pod that was picked may go now."""
        raise NotImplementedError

    def all_may_leave(self, view: View, rows: Ints) -> Bools:
        """Return which of some pods may go now."""
        return np.fromiter((self.may_leave(view, row) for row in rows.tolist()), np.bool_, len(rows))


def leaving_by_node(
    view: View,
    pods: Bools,
    goes: Callable[[int], bool] = lambda row: True,
    order: Callable[[int], Any] | None = None,
) -> Iterator[list[int]]:
    """Yield, node by node, those of some pods that should and may go; ``order`` is what they are sorted by."""
    for _, rows in view.by_node(pods):
        leaving = [row for row in rows if goes(row) and view.may_leave(row)]
        if order is not None:
            leaving.sort(key=order)
        yield leaving


def evict_node_by_node(
    nodes: Iterable[Iterable[int]], left: Callable[[int], None] = lambda row: None
) -> Decisions:
    """Give the pods of each node in turn; a node whose limit is reached is left, and the total limit ends it all.

    ``left`` is told of each pod that leaves.
    """
    for rows in nodes:
        for row in rows:
            outcome = yield row
            if outcome is not None and outcome.leaves:
                left(row)
            if outcome is Outcome.NODE_LIMIT:
                break
            if outcome is Outcome.TOTAL_LIMIT:
                return
