"""Two samples of a node, in arrays. Pure.

As objects the points of 30,000 pods take 25 MB; here a container takes 64 bytes beside its names, which stay the same objects
from one sample to the next.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from types import MappingProxyType

from pybernetes.control_plane.metrics_server.points import NodePoints, Point

_NOTHING = Point(nan, nan, 0, 0)


class PackedPoints:
    """The last points of a node and of its containers, and those that they are compared with; nobody changes it."""

    __slots__ = ("_amounts", "_moments", "_names", "_rows", "before", "compared", "node")

    def __init__(
        self,
        new: NodePoints | None = None,
        before: Point | None = None,
        containers: Mapping[str, Sequence[Point | None]] = MappingProxyType({}),
        last: PackedPoints | None = None,
    ) -> None:
        """Keep new points, and for each of them the one that it is compared with; ``last`` lends names that stay."""
        new = new or NodePoints()
        self.node, self.before = new.node, before
        self.compared = 0  # how many containers have a point to compare with
        rows: dict[str, range] = {}  # by the pod's namespace/name
        names: list[str] = []
        # A row per container: start and time, nanoseconds and bytes; of the last point, then of the one before.
        self._moments, self._amounts = array("d"), array("q")
        for key, points in new.pods.items():
            rows[key] = range(len(names), len(names) + len(points))
            for (name, point), earlier in zip(points, containers[key], strict=True):
                names.append(name)
                self.compared += earlier is not None
                for written in (point, earlier or _NOTHING):
                    self._moments.extend(written[:2])
                    self._amounts.extend(written[2:])
        kept_rows, kept_names = (last._rows, last._names) if last is not None else ({}, ())
        self._rows: dict[str, range] = kept_rows if rows == kept_rows else rows
        self._names: tuple[str, ...] = kept_names if tuple(names) == kept_names else tuple(names)

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
