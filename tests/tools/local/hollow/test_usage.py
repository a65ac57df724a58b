"""What hollow nodes say that they use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib import rfc3339
from pybernetes.lib.clock import ManualClock
from pybernetes.tools.local.hollow.usage import CPU, MEMORY, HollowUsage, builtin, curves, read
from pybernetes.tools.local.hollow.usage_curves import Constant, Curve, Replay, Sine, parse, read_csv


@pytest.mark.parametrize(
    ("text", "curve"),
    [
        ("250m", Constant(0.25)),
        ("64Mi", Constant(2.0**26)),
        ("sine(100m, 900m, 10m)", Sine(0.1, 0.9, 600)),
        ("shared(2)", Constant(2, True)),
        ("shared(sine(1,2,60s))", Sine(1, 2, 60, True)),
    ],
)
def test_curves(text: str, curve: Curve) -> None:
    assert parse(text) == curve


@pytest.mark.parametrize("text", ["", "x", "-1", "sine(1,2)", "sine(1,2,0s)", "cosine(1,2,3s)", "shared(shared(1))", "1" * 500])  # fmt: skip
def test_what_is_no_curve(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


@pytest.mark.parametrize(
    ("curve", "at", "value", "start", "end", "area"),
    [
        (Constant(0.5), 7, 0.5, 2, 6, 2.0),
        (Sine(0, 2, 40), 10, 2.0, 0, 40, 40.0),
        (Sine(0, 2, 40), 30, 0.0, 0, 20, 32.732395447),
        (Replay((0, 10, 20), (1, 3, 0)), 12, 3, 5, 15, 20.0),
        (Replay((0, 10, 20), (1, 3, 2)), 100, 2, 0, 30, 60.0),
        (Replay((5, 10), (1, 3)), 0, 1, 0, 5, 5.0),
    ],
)
def test_values_and_areas(
    curve: Curve, at: float, value: float, start: float, end: float, area: float
) -> None:
    assert curve.at(at) == pytest.approx(value) and curve.area(start, end) == pytest.approx(area)


def test_a_csv_file_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("seconds,cores,bytes\n0,100m,1Mi\n60,2,2Mi\n")
    (tmp_path / "usage.yaml").write_text(
        "- {name: all, cpu: {replay: day.csv, column: cores}, memory: {replay: day.csv, column: bytes}}\n"
    )
    cpu, memory = curves(read(tmp_path / "usage.yaml"), {"metadata": {}})
    assert cpu.at(30) == 0.1 and cpu.at(61) == 2 and memory.at(61) == 2**21
    for text in ("", "seconds,cores\n", "seconds,cores\n5,1\n5,2\n", "seconds,cores\n0,-1\n", "a,b\n1,2\n"):
        with pytest.raises(ValueError):
            read_csv(text, "cores")


def running(clock: ManualClock, **annotations: str) -> dict[str, Any]:
    meta = {"name": "web", "namespace": "default", "uid": "1", "annotations": annotations}
    statuses = [{"name": "main", "state": {"running": {"startedAt": rfc3339.seconds(clock.now())}}}]
    return {"metadata": meta, "status": {"phase": "Running", "containerStatuses": statuses}}


async def test_counters_go_up_when_annotations_change() -> None:
    clock = ManualClock()
    usage, pod = HollowUsage(builtin(), clock), running(clock, **{CPU: "2", MEMORY: "64Mi"})
    usage.pods_on = lambda node: [pod] if node == "a" else []
    await clock.advance(10)
    container = usage.summary("a")["pods"][0]["containers"][0]
    assert container["cpu"]["usageCoreNanoSeconds"] == 20_000_000_000
    assert container["memory"]["workingSetBytes"] == 2**26
    pod["metadata"]["annotations"][CPU] = "100m"
    await clock.advance(10)
    before = usage.summary("a")
    assert before["pods"][0]["containers"][0]["cpu"]["usageCoreNanoSeconds"] == 21_000_000_000
    pod["metadata"]["annotations"][CPU] = "nonsense"
    await clock.advance(10)
    after = usage.summary("a")
    assert after["pods"][0]["containers"][0]["cpu"]["usageCoreNanoSeconds"] == 21_010_000_000
    assert after["node"]["cpu"]["usageCoreNanoSeconds"] > before["node"]["cpu"]["usageCoreNanoSeconds"]
    pod["status"]["phase"] = "Succeeded"
    assert usage.summary("a")["pods"] == [] == usage.summary("b")["pods"]


async def test_a_shared_load_is_parted() -> None:
    clock = ManualClock()
    usage, pod = HollowUsage(builtin(), clock), running(clock, **{CPU: "shared(3)"})
    usage.pods_on, usage.siblings = lambda node: [pod], lambda pod: 3
    await clock.advance(10)
    assert usage.summary("a")["pods"][0]["cpu"]["usageCoreNanoSeconds"] == 10_000_000_000
