"""What was measured, at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Point(NamedTuple):
    """The figures of a node or container: seconds since the epoch, nanoseconds of CPU time, bytes."""

    start: float
    time: float
    cpu: int
    memory: int


# The containers of a pod by name; pairs take less memory than a dictionary, and nearly all pods have one or two.
PodPoints = tuple[tuple[str, Point], ...]


@dataclass(slots=True)
class NodePoints:
    """What a kubelet said: of its node, and of its pods by ``namespace/name``."""

    node: Point | None = None
    pods: dict[str, PodPoints] = field(default_factory=dict)
