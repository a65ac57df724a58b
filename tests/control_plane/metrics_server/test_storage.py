"""What two samples say; the cases are those of upstream's storage."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.metrics_server.points import NodePoints, Point
from pybernetes.control_plane.metrics_server.storage import PodUsage, Storage, Usage, usage

SECOND = 1_000_000_000


def point(time: float, cpu: float, memory: int = 5, start: float = 0.0) -> Point:
    return Point(start, time, int(cpu * SECOND), memory)


@pytest.mark.parametrize(
    ("last", "previous", "expected"),
    [
        (point(120, 20), point(110, 10), Usage(SECOND, 5, 120, 10)),
        (point(120, 10), point(110, 10), Usage(0, 5, 120, 10)),
        (point(120, 9), point(110, 10), None),  # a counter that went back
        (point(110, 20), point(110, 10), None),
        (point(105, 20), point(110, 10), None),
        (point(120, 20, start=1), point(110, 10, start=2), None),
    ],
)
def test_usage(last: Point, previous: Point, expected: Usage | None) -> None:
    assert usage(last, previous) == expected


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([point(100, 10)], None),
        ([point(100, 10), point(110, 20)], Usage(SECOND, 5, 110, 10)),
        ([point(100, 10), point(100, 10)], None),  # the same sample twice
        ([point(100, 10), point(110, 20), point(110, 20)], Usage(SECOND, 5, 110, 10)),
        ([point(100, 10), point(110, 20), point(105, 15)], Usage(SECOND, 5, 105, 5)),
        ([point(100, 10), point(110, 20), point(90, 5)], None),
        ([point(100, 10), point(110, 20), point(120, 1)], None),  # a machine that was booted anew
        ([point(100, 10), point(110, 1), point(120, 2)], Usage(SECOND // 10, 5, 120, 10)),
    ],
)
def test_nodes(samples: list[Point], expected: Usage | None) -> None:
    storage = Storage(60)
    for sample in samples:
        storage.store("a", NodePoints(sample))
    assert storage.node("a") == expected
    assert storage.has_node("a") is (storage.counts()[0] == 1)


def pods(**containers: Point) -> NodePoints:
    return NodePoints(None, {"default/web": tuple(containers.items())})


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([pods(main=point(100, 10))], None),
        ([pods(main=point(100, 10)), pods(main=point(110, 20))],
         PodUsage((("main", Usage(SECOND, 5, 110, 10)),), 110, 10)),
        # Restarted between the samples.
        ([pods(main=point(100, 10)), pods(main=point(110, 1, start=105))], None),
        # Fresh: its whole life is the window, if that is long enough and shorter than the resolution.
        ([pods(main=point(115, 15, start=100))], PodUsage((("main", Usage(SECOND, 5, 115, 15)),), 115, 15)),
        ([pods(main=point(105, 5, start=100))], None),
        ([pods(main=point(170, 5, start=100))], None),
        # A container that came later.
        ([pods(main=point(100, 10)), pods(main=point(110, 20), side=point(110, 1))], None),
        # The window is that of the earliest container.
        ([pods(main=point(100, 10), side=point(98, 1)), pods(main=point(110, 20), side=point(103, 2))],
         PodUsage((("main", Usage(SECOND, 5, 110, 10)), ("side", Usage(SECOND // 5, 5, 103, 5))), 103, 5)),
        # A counter that went back leaves out its container.
        ([pods(main=point(100, 10), side=point(100, 9)), pods(main=point(110, 20), side=point(110, 2))],
         PodUsage((("main", Usage(SECOND, 5, 110, 10)),), 110, 10)),
    ],
)  # fmt: skip
def test_pods(samples: list[NodePoints], expected: PodUsage | None) -> None:
    storage = Storage(60)
    for sample in samples:
        storage.store("a", sample)
    assert storage.pod("a", "default/web") == expected


def test_no_node_speaks_for_the_pods_of_another() -> None:
    storage = Storage(60)
    for time in (100, 110):
        storage.store("honest", pods(main=point(time, time)))
        storage.store("liar", pods(main=point(time, time * 1000)))
    used = storage.pod("honest", "default/web")
    assert used is not None and used.containers[0][1].cpu == SECOND
    assert storage.pod("other", "default/web") is None


def test_nodes_that_are_gone_are_forgotten() -> None:
    storage = Storage(60)
    for time in (100, 110):
        for name in ("a", "b"):
            storage.store(name, NodePoints(point(time, time)))
    storage.keep(["b"])
    assert storage.node("a") is None and storage.node("b") is not None and storage.counts() == (1, 0)
