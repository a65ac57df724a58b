"""Keeps the last two samples of everything, and tells what was used between them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.control_plane.metrics_server.points import NodePoints, PodPoints, Point

# Over less time than this the usage of a container since its start is not accurate.
_FRESH_SECONDS = 10.0


class Usage(NamedTuple):
    """What was used: nanocores on average over a window, and bytes at its end."""

    cpu: int
    memory: int
    time: float
    window: float


class PodUsage(NamedTuple):
    """What the containers of a pod used; time and window are those of the container that was measured first."""

    containers: tuple[tuple[str, Usage], ...]
    time: float
    window: float


def usage(last: Point, previous: Point) -> Usage | None:
    """Return what was used between two points; None if one of them cannot be true."""
    window = last.time - previous.time
    if window <= 0 or last.start < previous.start or last.cpu < previous.cpu:
        return None
    return Usage(int((last.cpu - previous.cpu) / window), last.memory, last.time, window)


class Storage:
    """Samples by node: no node can speak for the pods of another."""

    def __init__(self, resolution: float) -> None:
        self._resolution = resolution
        self._last: dict[str, NodePoints] = {}
        self._previous: dict[str, NodePoints] = {}

    def store(self, node: str, new: NodePoints) -> None:
        """Keep a new sample of a node; the older of the two that there were is forgotten."""
        last, previous = self._last.get(node, NodePoints()), self._previous.get(node, NodePoints())
        kept = NodePoints()
        if new.node is not None:
            kept.node = _earlier(new.node, last.node, previous.node)
        for key, containers in new.pods.items():
            before = self._before(containers, dict(last.pods.get(key, ())), dict(previous.pods.get(key, ())))
            if before:
                kept.pods[key] = before
        self._last[node], self._previous[node] = new, kept

    def _before(self, new: PodPoints, last: dict[str, Point], previous: dict[str, Point]) -> PodPoints:
        """Return the points that those of a pod's containers are compared with."""
        result = []
        for name, point in new:
            running = point.time - point.start
            stored = last.get(name)
            if point.start and _FRESH_SECONDS <= running < self._resolution:
                result.append((name, Point(point.start, point.start, 0, point.memory)))
            elif stored is not None and point.start < stored.time:  # else it was restarted meanwhile
                earlier = _earlier(point, stored, previous.get(name))
                if earlier is not None:
                    result.append((name, earlier))
        return tuple(result)

    def keep(self, nodes: Iterable[str]) -> None:
        """Forget every node but these."""
        kept = set(nodes)
        for samples in (self._last, self._previous):
            for name in [name for name in samples if name not in kept]:
                del samples[name]

    def node(self, name: str) -> Usage | None:
        """Return what a node uses."""
        last, previous = self._last.get(name), self._previous.get(name)
        if last is None or previous is None or last.node is None or previous.node is None:
            return None
        return usage(last.node, previous.node)

    def pod(self, node: str, key: str) -> PodUsage | None:
        """Return what a pod on a node uses; a pod with a container that is not known yet is not known."""
        if node not in self._last:
            return None
        before = dict(self._previous[node].pods.get(key, ()))
        containers: list[tuple[str, Usage]] = []
        for name, point in self._last[node].pods.get(key, ()):
            if name not in before:
                return None
            used = usage(point, before[name])
            if used is not None:
                containers.append((name, used))
        if not containers:
            return None
        first = min((used for _, used in containers), key=lambda used: used.time)
        return PodUsage(tuple(containers), first.time, first.window)

    def has_node(self, name: str) -> bool:
        """Return whether something can be told of a node."""
        previous = self._previous.get(name)
        return previous is not None and previous.node is not None

    def counts(self) -> tuple[int, int]:
        """Return of how many nodes and of how many containers something can be told."""
        samples = self._previous.values()
        return (
            sum(points.node is not None for points in samples),
            sum(len(containers) for points in samples for containers in points.pods.values()),
        )


def _earlier(new: Point, last: Point | None, previous: Point | None) -> Point | None:
    """Return the point to compare a new one with: the last one, unless that is the same or newer."""
    if last is None:
        return None
    if new.time > last.time:
        return last
    return previous if previous is not None and previous.time < new.time else None
