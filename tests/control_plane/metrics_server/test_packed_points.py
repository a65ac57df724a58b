"""Points that were put into arrays come out as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.metrics_server.packed_points import PackedPoints
from pybernetes.control_plane.metrics_server.points import NodePoints, Point

AMOUNTS = st.integers(0, 2**63 - 1)
MOMENTS = st.floats(0, 2**40)
POINTS = st.builds(Point, MOMENTS, MOMENTS, AMOUNTS, AMOUNTS)
PODS = st.dictionaries(st.text(max_size=5), st.lists(st.tuples(st.text(max_size=3), POINTS), max_size=3).map(tuple), max_size=4)  # fmt: skip


@given(st.lists(st.tuples(PODS, st.booleans()), min_size=1, max_size=4))
def test_what_goes_in_comes_out(samples: list[tuple[dict[str, tuple[tuple[str, Point], ...]], bool]]) -> None:
    packed = None
    for pods, compared in samples:
        before = {
            key: [point._replace(cpu=1) if compared else None for _, point in rows] for key, rows in pods.items()
        }  # fmt: skip
        packed = PackedPoints(NodePoints(None, pods), None, before, packed)
        for key, rows in pods.items():
            assert list(packed.containers(key)) == [
                (name, point, earlier) for (name, point), earlier in zip(rows, before[key], strict=True)
            ]
        assert packed.compared == (sum(map(len, pods.values())) if compared else 0)
    assert packed is not None and not list(packed.containers("no such pod"))
