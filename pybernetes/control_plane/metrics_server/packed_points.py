"""Two samples of a node, in arrays. Pure.

As objects the points of 30,000 pods take 25 MB; here a container takes 64 bytes beside its names, which stay the same objects
from one sample to the next.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from math import isnan, nan

from pybernetes.control_plane.metrics_server.points import NodePoints, Point

_NOTHING = Point(nan, nan, 0, 0)


class PackedPoints:
    """The last points of a node and of its containers, and those that they are compared with."""

    __slots__ = ("_amounts", "_moments", "_names", "_rows", "before", "node")

    def __init__(self) -> None:
        self.node: Point | None = None
        self.before: Point | None = None
        self._rows: dict[str, range] = {}  # by the pod's namespace/name
        self._names: tuple[str, ...] = ()
        # A row per container: start and time, nanoseconds and bytes; of the last point, then of the one before.
        self._moments, self._amounts = array("d"), array("q")

    def replace(
        self, new: NodePoints, before: Point | None, containers: dict[str, list[Point | None]]
    ) -> None:
        """Keep new points, and for each of them the one that it is compared with, if there is one."""
        self.node, self.before = new.node, before
        rows: dict[str, range] = {}
        names: list[str] = []
        moments, amounts = array("d"), array("q")
        for key, points in new.pods.items():
            rows[key] = range(len(names), len(names) + len(points))
            for (name, last), earlier in zip(points, containers[key], strict=True):
                names.append(name)
                for point in (last, earlier or _NOTHING):
                    moments.extend(point[:2])
                    amounts.extend(point[2:])
        if rows != self._rows:
            self._rows = rows
        if tuple(names) != self._names:
            self._names = tuple(names)
        self._moments, self._amounts = moments, amounts

    def containers(self, key: str) -> Iterator[tuple[str, Point, Point | None]]:
        """Yield the containers of a pod: name, last point, and the one to compare it with."""
        for row in self._rows.get(key, ()):
            start = 4 * row
            first, last, first_before, last_before = self._moments[start : start + 4]
            cpu, memory, cpu_before, memory_before = self._amounts[start : start + 4]
            earlier = None
            if not isnan(last_before):
                earlier = Point(first_before, last_before, cpu_before, memory_before)
            yield self._names[row], Point(first, last, cpu, memory), earlier

    def compared(self) -> int:
        """Return how many containers have a point to compare with."""
        return sum(not isnan(time) for time in self._moments[3::4])
