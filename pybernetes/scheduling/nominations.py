"""Nominated pods: room is being made for them, and nobody else may take their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pybernetes.scheduling.columns import Ints
from pybernetes.scheduling.loads import Load
from pybernetes.scheduling.plugin import Extra, FilterPlugin, Scope
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import Snapshot

Verdicts = list[tuple[FilterPlugin, Ints]]


class _Load(Load):
    """What the nominated pods of one priority take."""

    def __init__(self) -> None:
        super().__init__(64)

    def add(self, pod: Pod, row: int, sign: int) -> None:
        if row >= len(self.pods):
            self.grow(max(row + 1, 2 * len(self.pods)))
        self.count(pod, row, sign)

    def rows(self) -> Ints:
        return np.flatnonzero(self.pods)


def is_plain(pod: Pod) -> bool:
    """Return whether a pod takes nothing from a node but amounts."""
    shape = pod.shape
    return not shape.ports and shape.affinity is None and shape.volumes is None


class Nominations:
    """Which pods are nominated for which node."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._pods: dict[str, Pod] = {}  # by uid, as if on its node
        self._nodes: dict[str, dict[str, Pod]] = {}
        self._loads: dict[int, _Load] = {}  # by priority
        self._special = 0  # how many are not plain

    def __len__(self) -> int:
        return len(self._pods)

    def add(self, pod: Pod, node: str) -> None:
        """Nominate a pod for a node, whatever it was nominated for before."""
        self.remove(pod.uid)
        if not node or self._snapshot.node(node) is None:
            return
        placed = pod.placed(node)
        self._pods[pod.uid] = placed
        self._nodes.setdefault(node, {})[pod.uid] = placed
        self._special += not is_plain(pod)
        self._load(placed, 1)

    def remove(self, uid: str) -> None:
        """End a nomination, if there is one."""
        pod = self._pods.pop(uid, None)
        if pod is None:
            return
        others = self._nodes[pod.node]
        del others[uid]
        if not others:
            del self._nodes[pod.node]
        self._special -= not is_plain(pod)
        self._load(pod, -1)

    @property
    def all_plain(self) -> bool:
        """Whether none of the pods takes anything but amounts."""
        return self._special == 0

    def node_of(self, uid: str) -> str:
        """Return the node that a pod is nominated for, or an empty string."""
        pod = self._pods.get(uid)
        return "" if pod is None else pod.node

    def on(self, node: str) -> list[Pod]:
        """Return the pods that are nominated for a node."""
        return list(self._nodes.get(node, {}).values())

    def drop_node(self, node: str) -> list[Pod]:
        """End the nominations for a node that is gone."""
        pods = self.on(node)
        for pod in pods:
            self.remove(pod.uid)
        return pods

    def _load(self, pod: Pod, sign: int) -> None:
        row = self._snapshot.rows.get(pod.node)
        if row is None:  # the node went, and its row with it; so did what was noted of it
            self._loads.clear()
            for nominated in self._pods.values():
                if nominated.node in self._snapshot.rows:
                    self._loads.setdefault(nominated.priority, _Load()).add(
                        nominated, self._snapshot.rows[nominated.node], 1
                    )
            return
        self._loads.setdefault(pod.priority, _Load()).add(pod, row, sign)
        self._snapshot.changes.note(row)

    # -- what others may not take -----------------------------------------------------------------------

    def rivals(self, pod: Pod, node: str) -> Iterator[Pod]:
        """Yield the pods nominated for a node that come before a pod: those of no lower priority."""
        for other in self._nodes.get(node, {}).values():
            if other.priority >= pod.priority and other.uid != pod.uid:
                yield other

    def extra(self, pod: Pod, rows: Ints) -> Extra | None:
        """Return what nominated pods that come before a pod take on some rows; None for nothing."""
        loads = [load for priority, load in self._loads.items() if priority >= pod.priority]
        return self._extra(pod, loads, rows) if loads and self._pods else None

    def verdicts(
        self, pod: Pod, filters: Sequence[FilterPlugin], rows: Ints | None = None
    ) -> tuple[Ints, Verdicts]:
        """Return the rows that nominations affect, and what plugins say about them with the nominated pods there."""
        none: tuple[Ints, Verdicts] = np.zeros(0, dtype=np.intp), []
        if not self._pods:
            return none
        loads = [load for priority, load in self._loads.items() if priority >= pod.priority]
        if not loads:
            return none
        if self._special or any(plugin.filter_scope is Scope.CLUSTER for plugin in filters):
            return self._tried(pod, filters, rows)
        affected = (
            np.unique(np.concatenate([load.rows() for load in loads])) if len(loads) > 1 else loads[0].rows()
        )
        if rows is not None:
            affected = np.intersect1d(affected, rows)
        if not len(affected):
            return none
        extra = self._extra(pod, loads, affected)
        answers = [(plugin, plugin.filter_beside(pod, affected, extra)) for plugin in filters]
        return affected, [(plugin, codes) for plugin, codes in answers if codes is not None]

    def _extra(self, pod: Pod, loads: list[_Load], rows: Ints) -> Extra:
        pods = np.zeros(len(rows), dtype=np.int64)
        amounts: dict[int, Ints] = {}
        own = self._pods.get(pod.uid)
        mine = -1 if own is None else self._snapshot.rows.get(own.node, -1)
        for load in loads:
            within = rows < len(load.pods)
            pods[within] += load.pods[rows[within]]
            for number, column in load.amounts.items():
                amounts.setdefault(number, np.zeros(len(rows), dtype=np.int64))[within] += column[
                    rows[within]
                ]
        if own is not None and mine >= 0:
            at = rows == mine
            pods[at] -= 1
            for number, amount in own.requests.amounts:
                if number in amounts:
                    amounts[number][at] -= amount
        return Extra(pods, amounts)

    def _tried(self, pod: Pod, filters: Sequence[FilterPlugin], rows: Ints | None) -> tuple[Ints, Verdicts]:
        """Answer the slow way: put the pods there, ask every plugin, and take them away again, node by node."""
        snapshot = self._snapshot
        wanted = None if rows is None else {int(row) for row in rows}
        tried: list[int] = []
        answers: list[list[int]] = [[] for _ in filters]
        for node in list(self._nodes):
            row = snapshot.rows.get(node)
            rivals = list(self.rivals(pod, node))
            if row is None or not rivals or (wanted is not None and row not in wanted):
                continue
            for other in rivals:
                snapshot.add_pod(other)
            for plugin, codes in zip(filters, answers, strict=True):
                codes.append(int(plugin.filter(pod, slice(row, row + 1))[0]))
            for other in rivals:
                snapshot.remove_pod(other)
            tried.append(row)
        numbers = np.array(tried, dtype=np.intp)
        return numbers, [
            (plugin, np.array(codes, dtype=np.int64)) for plugin, codes in zip(filters, answers, strict=True)
        ]
