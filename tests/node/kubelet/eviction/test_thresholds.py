"""When a node is under pressure."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.eviction import thresholds
from pybernetes.node.kubelet.eviction.thresholds import Amount, Observation, PressureWatch, Threshold

GIB = 1 << 30


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"evictionHard": {"memory.available": "100Mi"}}, [("memory.available", 0.0)]),
        (
            {"evictionHard": {"memory.available": "0%", "nodefs.available": "10%"}},
            [("nodefs.available", 0.0)],
        ),
        (
            {
                "evictionSoft": {"memory.available": "1Gi"},
                "evictionSoftGracePeriod": {"memory.available": "90s"},
            },
            [("memory.available", 90.0)],
        ),
        (
            {"evictionHard": {"memory.available": "1Gi"}, "enforceNodeAllocatable": ["pods"]},
            [("memory.available", 0.0), ("allocatableMemory.available", 0.0)],
        ),
        ({"evictionHard": {"containerfs.available": "5%"}}, []),
    ],
)
def test_thresholds_are_read(settings: dict[str, Any], expected: list[tuple[str, float]]) -> None:
    assert [(threshold.signal, threshold.grace) for threshold in thresholds.parse(settings)] == expected


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"evictionHard": {"cpu.available": "1"}}, "unsupported eviction signal cpu.available"),
        ({"evictionHard": {"memory.available": "-1Gi"}}, "must be positive"),
        ({"evictionHard": {"memory.available": "-1%"}}, "must be >= 0%"),
        ({"evictionHard": {"memory.available": "110%"}}, "must be <= 100%"),
        (
            {"evictionSoft": {"memory.available": "1Gi"}},
            "grace period must be specified for the soft eviction",
        ),
        ({"evictionMinimumReclaim": {"memory.available": "-1"}}, "negative eviction minimum reclaim"),
    ],
)
def test_thresholds_that_cannot_be(settings: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        thresholds.parse(settings)


def test_pressure_comes_and_goes() -> None:
    hard = Threshold("nodefs.available", Amount("1Gi"), reclaim=Amount("1Gi"))
    soft = Threshold("memory.available", Amount("2Gi"), grace=60.0)
    watch = PressureWatch([hard, soft], transition=300.0)

    def step(disk: int, memory: int, now: float) -> tuple[list[str], list[str]]:
        seen = {
            "nodefs.available": Observation(disk * GIB // 2, 100 * GIB),
            "memory.available": Observation(memory * GIB, 8 * GIB),
        }
        conditions, due = watch.step(seen, now)
        return sorted(conditions), [threshold.signal for threshold in due]

    assert step(10, 4, 0) == ([], [])
    assert step(10, 1, 10) == (["MemoryPressure"], [])  # soft: not yet
    assert step(10, 1, 71) == (["MemoryPressure"], ["memory.available"])
    assert step(1, 1, 80) == (["DiskPressure", "MemoryPressure"], ["memory.available", "nodefs.available"])
    assert step(3, 4, 90) == (["DiskPressure", "MemoryPressure"], ["nodefs.available"])  # until 2Gi are free
    assert step(5, 4, 100) == (["DiskPressure", "MemoryPressure"], [])  # stays for the transition period
    assert step(5, 4, 381) == (["DiskPressure"], []) and step(5, 4, 391) == ([], [])
