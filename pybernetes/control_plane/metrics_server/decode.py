"""Reads what a kubelet answers at /metrics/resource. Pure.

Nobody vouches for what it says: a figure that cannot be (NaN, infinite, negative, too large, of the future) is left
out, and with it the node or pod that would be incomplete without it. The text is read once, line by line.
"""

from __future__ import annotations

import re

from pybernetes.control_plane.metrics_server.points import NodePoints, Point

_MOST = 2.0**63
# How far the clock of a node may be ahead of ours.
SKEW_SECONDS = 60.0
# More than a node can have: what is said of each is kept.
MOST_CONTAINERS = 10_000
_LONGEST = 3 * 253  # of the names of a container
# As kubelets write it; whatever else the format permits is read by _labels.
_USUAL = re.compile(
    rb'container="([^"\\]*)",namespace="([^"\\]*)",pod="([^"\\]*)"\}\s+([0-9.eE+-]+)(?:\s+(-?[0-9]{1,16}))?\s*\Z'
)
_LABEL = re.compile(rb'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"([^"\\]*)"\s*(,|\})')
_END = re.compile(rb"\s*+\}")
_TAIL = re.compile(rb"\s+(\S+)(?:\s+(-?[0-9]{1,16}))?\s*\Z")
_CPU, _MEMORY, _START = 0, 1, 2
_CONTAINER = {
    b"container_cpu_usage_seconds_total": _CPU,
    b"container_memory_working_set_bytes": _MEMORY,
    b"container_start_time_seconds": _START,
}
_NODE = {b"node_cpu_usage_seconds_total": _CPU, b"node_memory_working_set_bytes": _MEMORY}


class TooMuch(Exception):
    """An answer tells of more than there can be."""


def decode(body: bytes, now: float) -> NodePoints:
    """Return the points of an answer that came at a moment; TooMuch if nobody could have written it."""
    node = _Figures(now)
    containers: dict[tuple[bytes, bytes, bytes], _Figures] = {}
    for line in body.split(b"\n"):
        name, brace, rest = line.partition(b"{")
        which = _CONTAINER.get(name)
        if which is not None:
            usual = _USUAL.match(rest)
            if usual is not None:
                container, namespace, pod, value, moment = usual.groups()
            else:
                labels, value, moment = _labels(rest)
                container, namespace, pod = (
                    labels.get(key, b"") for key in (b"container", b"namespace", b"pod")
                )
            if container and namespace and pod:
                key = (namespace, pod, container)
                figures = containers.get(key)
                if figures is None:
                    if (
                        len(containers) == MOST_CONTAINERS
                        or len(namespace) + len(pod) + len(container) > _LONGEST
                    ):
                        raise TooMuch("this cannot be what runs on one node")
                    figures = containers[key] = _Figures(now)
                figures.add(which, value, moment)
        elif line[:5] == b"node_":
            if not brace:
                name, _, rest = line.partition(b" ")
                rest = b" " + rest
            else:
                rest = rest.partition(b"}")[2]
            which, tail = _NODE.get(name), _TAIL.match(rest)
            if which is not None and tail is not None:
                node.add(which, tail[1], tail[2])
    return NodePoints(node.point(), _pods(containers))


def _pods(containers: dict[tuple[bytes, bytes, bytes], _Figures]) -> dict[str, tuple[tuple[str, Point], ...]]:
    pods: dict[str, list[tuple[str, Point]]] = {}
    incomplete = set()
    for (namespace, pod, container), figures in containers.items():
        key = f"{namespace.decode(errors='replace')}/{pod.decode(errors='replace')}"
        point = figures.point()
        if point is None:
            incomplete.add(key)
        else:
            pods.setdefault(key, []).append((container.decode(errors="replace"), point))
    return {key: tuple(points) for key, points in pods.items() if key not in incomplete}


def _labels(text: bytes) -> tuple[dict[bytes, bytes], bytes, bytes | None]:
    """Return labels, value and moment of a line; names of pods need no escapes, so that one with them is not read."""
    labels: dict[bytes, bytes] = {}
    place = 0
    while label := _LABEL.match(text, place):
        labels[label[1]] = label[2]
        place = label.end()
        end = _END.match(text, place) if label[3] == b"," else label
        if end is not None:
            tail = _TAIL.match(text, end.end())
            return (labels, tail[1], tail[2]) if tail is not None else ({}, b"", None)
    return {}, b"", None


class _Figures:
    """What was said of one node or container so far."""

    __slots__ = ("_now", "cpu", "memory", "start", "time", "wrong")

    def __init__(self, now: float) -> None:
        self._now = now
        self.start = self.time = 0.0
        self.cpu = self.memory = 0
        self.wrong = False

    def add(self, which: int, text: bytes, moment: bytes | None) -> None:
        try:
            value = float(text)
        except ValueError:
            self.wrong = True
            return
        time = int(moment) / 1000 if moment is not None else self._now
        if not 0.0 <= value < _MOST or not 0.0 < time <= self._now + SKEW_SECONDS:  # NaN is not either
            self.wrong = True
        elif which == _CPU:
            # Rates are of CPU time: its moment counts, not that of the memory.
            self.cpu, self.time = int(value * 1e9), time
        elif which == _MEMORY:
            self.memory, self.time = int(value), self.time or time
        elif value <= self._now + SKEW_SECONDS:
            self.start = value
        else:
            self.wrong = True

    def point(self) -> Point | None:
        """Return the point; None if a part of it is missing, as it is for what has just started."""
        if self.wrong or not self.cpu or not self.memory or self.cpu >= _MOST:
            return None
        return Point(self.start, self.time, self.cpu, self.memory)
