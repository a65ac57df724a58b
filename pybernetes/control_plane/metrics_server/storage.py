"""Keeps the last two samples of everything, and tells what was used between them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.control_plane.metrics_server.packed_points import PackedPoints
from pybernetes.control_plane.metrics_server.points import NodePoints, Point

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
        self._samples: dict[str, PackedPoints] = {}

    def store(self, node: str, new: NodePoints) -> None:
        """Keep a new sample of a node; the older of the two that there were is forgotten. Any thread may do so."""
        kept = self._samples.get(node) or PackedPoints()
        before = _earlier(new.node, kept.node, kept.before) if new.node is not None else None
        containers = {}
        for key, points in new.pods.items():
            stored = {name: (last, previous) for name, last, previous in kept.containers(key)}
            containers[key] = [self._before(point, *stored.get(name, (None, None))) for name, point in points]
        self._samples[node] = PackedPoints(new, before, containers, kept)

    def _before(self, new: Point, last: Point | None, previous: Point | None) -> Point | None:
        """Return the point that a new one of a container is compared with."""
        if new.start and _FRESH_SECONDS <= new.time - new.start < self._resolution:
            return Point(new.start, new.start, 0, new.memory)
        if last is not None and new.start < last.time:  # else it was restarted meanwhile
            return _earlier(new, last, previous)
        return None

    def keep(self, nodes: Iterable[str]) -> None:
        """Forget every node but these."""
        kept = set(nodes)
        for name in [name for name in self._samples if name not in kept]:
            del self._samples[name]

    def node(self, name: str) -> Usage | None:
        """Return what a node uses."""
        sample = self._samples.get(name)
        if sample is None or sample.node is None or sample.before is None:
            return None
        return usage(sample.node, sample.before)

    def pod(self, node: str, key: str) -> PodUsage | None:
        """Return what a pod on a node uses; a pod with a container that is not known yet is not known."""
        sample = self._samples.get(node)
        if sample is None:
            return None
        containers: list[tuple[str, Usage]] = []
        for name, point, before in sample.containers(key):
            if before is None:
                return None
            used = usage(point, before)
            if used is not None:
                containers.append((name, used))
        if not containers:
            return None
        first = min((used for _, used in containers), key=lambda used: used.time)
        return PodUsage(tuple(containers), first.time, first.window)

    def has_node(self, name: str) -> bool:
        """Return whether something can be told of a node."""
        sample = self._samples.get(name)
        return sample is not None and sample.before is not None

    def counts(self) -> tuple[int, int]:
        """Return of how many nodes and of how many containers something can be told."""
        samples = self._samples.values()
        return (
            sum(sample.before is not None for sample in samples),
            sum(sample.compared for sample in samples),
        )


def _earlier(new: Point, last: Point | None, previous: Point | None) -> Point | None:
    """Return the point to compare a new one with: the last one, unless that is the same or newer."""
    if last is None:
        return None
    if new.time > last.time:
        return last
    return previous if previous is not None and previous.time < new.time else None
