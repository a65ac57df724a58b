"""What is read of a kubelet's answer, also when it lies."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.metrics_server.decode import MOST_CONTAINERS, TooMuch, decode
from pybernetes.control_plane.metrics_server.points import NodePoints, Point
from tests.doubling import MOST_GROWTH, Input, growth

NOW = 1_700_000_100.0
MOMENT = 1_700_000_099_500
LABELS = 'container="main",namespace="default",pod="web"'


def answer(
    cpu: str = "2.5", memory: str = "1000", start: str = "1700000000", moment: str = str(MOMENT)
) -> bytes:
    return (
        "# TYPE container_cpu_usage_seconds_total counter\n"
        f"container_cpu_usage_seconds_total{{{LABELS}}} {cpu} {moment}\n"
        f"container_memory_working_set_bytes{{{LABELS}}} {memory} {moment}\n"
        f"container_start_time_seconds{{{LABELS}}} {start}\n"
        f"node_cpu_usage_seconds_total 20 {MOMENT}\n"
        f"node_memory_working_set_bytes 4096 {MOMENT}\n"
    ).encode()


WEB = Point(1_700_000_000.0, MOMENT / 1000, 2_500_000_000, 1000)
NODE = Point(0.0, MOMENT / 1000, 20_000_000_000, 4096)


@pytest.mark.parametrize(
    ("body", "points"),
    [
        (answer(), NodePoints(NODE, {"default/web": (("main", WEB),)})),
        (answer(moment=""), NodePoints(NODE, {"default/web": (("main", WEB._replace(time=NOW)),)})),
        (answer(cpu="NaN"), NodePoints(NODE)),
        (answer(cpu="+Inf"), NodePoints(NODE)),
        (answer(cpu="-1"), NodePoints(NODE)),
        (answer(cpu="1e300"), NodePoints(NODE)),
        (answer(cpu="0"), NodePoints(NODE)),
        (answer(memory="0"), NodePoints(NODE)),
        (answer(memory="nonsense"), NodePoints(NODE)),
        (answer(moment=str(int((NOW + 3600) * 1000))), NodePoints(NODE)),
        (answer(moment="-5"), NodePoints(NODE)),
        (answer(start=str(NOW + 3600)), NodePoints(NODE)),
        (answer(start="NaN"), NodePoints(NODE)),
        (b"", NodePoints()),
        (b"\xff\xfe{}\n" * 5, NodePoints()),
        (b'container_cpu_usage_seconds_total{container="a"} 1\n', NodePoints()),
        (
            b'container_cpu_usage_seconds_total{ pod="web", extra="x",namespace="default",container="main", } 2.5\n'
            b'container_memory_working_set_bytes{pod="web",namespace="default",container="main"} 1000\n',
            NodePoints(None, {"default/web": (("main", Point(0.0, NOW, 2_500_000_000, 1000)),)}),
        ),
        (
            b'node_cpu_usage_seconds_total{a="b"} 1\nnode_memory_working_set_bytes{} 5 1700000000000\n',
            NodePoints(Point(0.0, NOW, 1_000_000_000, 5)),
        ),
        (b"node_cpu_usage_seconds_total_other 1\nnode_memory_working_set_bytes 5\n", NodePoints()),
    ],
)  # fmt: skip
def test_points(body: bytes, points: NodePoints) -> None:
    assert decode(body, NOW) == points


def test_a_pod_with_a_container_that_is_not_known_is_not_known() -> None:
    sidecar = LABELS.replace("main", "sidecar")
    assert decode(answer() + f"container_cpu_usage_seconds_total{{{sidecar}}} 1\n".encode(), NOW).pods == {}


@given(st.lists(st.sampled_from([answer(), b"{", b'"', b"\\", b"container_cpu_usage_seconds_total{", b" ", b"\n", b'container="', b"NaN"])), st.binary(max_size=50))  # fmt: skip
def test_anything_is_read(parts: list[bytes], more: bytes) -> None:
    points = decode(b"".join(parts) + more, NOW)
    for pods in points.pods.values():
        for _, point in pods:
            assert point.cpu > 0 and point.memory > 0 and math.isfinite(point.time)


@pytest.mark.parametrize(
    "part",
    [
        b'container_cpu_usage_seconds_total{a="b",',
        b'a="b",',
        b"container_cpu_usage_seconds_total{}\n",
        b" ",
        b"node_cpu_usage_seconds_total ",
    ],
)
def test_time_grows_with_the_text(part: bytes) -> None:
    lines = Input(
        "lines",
        lambda size: b"container_cpu_usage_seconds_total{" + part * size,
        lambda body: decode(body, NOW),
    )
    assert growth(lines) < MOST_GROWTH


def _containers(size: int) -> bytes:
    return b"".join(
        b'%s{container="c%d",namespace="default",pod="web"} 5 %d\n' % (name, number, MOMENT)
        for number in range(size)
        for name in (b"container_cpu_usage_seconds_total", b"container_memory_working_set_bytes")
    )


def test_more_than_a_node_can_have_is_not_kept() -> None:
    assert len(decode(_containers(MOST_CONTAINERS), NOW).pods["default/web"]) == MOST_CONTAINERS
    with pytest.raises(TooMuch):
        decode(_containers(MOST_CONTAINERS + 1), NOW)
    with pytest.raises(TooMuch):
        decode(answer().replace(b'"web"', b'"%b"' % (b"w" * 1000)), NOW)


def test_time_grows_with_the_containers_of_a_pod() -> None:
    assert len(decode(_containers(3), NOW).pods["default/web"]) == 3
    assert growth(Input("containers", _containers, lambda body: decode(body, NOW))) < MOST_GROWTH
