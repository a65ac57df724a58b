"""Which nodes get connections, as tables."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.cloud.local.health import Health, HealthChecks, Target, judge, usable
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.messages import Response
from pybernetes.runtime.component_server import ComponentServer

A, B, C = (Target(f"10.0.0.{number}", 1) for number in range(3))
WELL, NO, SILENT = Health(well=True), Health(refused=True), Health(silences=2)


@pytest.mark.parametrize(
    ("answers", "well", "refused"),
    [
        ([200], True, False),
        ([None], False, False),  # a new one that says nothing
        ([200, None], True, False),  # once is nothing
        ([200, None, None], False, False),
        ([200, None, 200, None], True, False),
        ([200, 503], False, True),  # a no counts at once
        ([503, None], False, False),
        ([503, 200], True, False),
    ],
)
def test_judge(answers: list[int | None], well: bool, refused: bool) -> None:
    health = Health()
    for status in answers:
        health = judge(health, status)
    assert (health.well, health.refused) == (well, refused)


@pytest.mark.parametrize(
    ("healths", "expected"),
    [
        ({}, [A, B, C]),  # nothing is known: better any than none
        ({A: WELL, B: NO, C: SILENT}, [A]),
        ({A: NO, B: NO, C: SILENT}, [C]),
        ({A: NO, B: NO, C: NO}, []),
        ({A: WELL}, [A]),
    ],
)
def test_usable(healths: dict[Target, Health], expected: list[Target]) -> None:
    assert usable([A, B, C], healths) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Response(b"{}"), WELL),
        (Response(b"{}", 503), NO),
        (Response(b"{}", 503, headers=((b"Retry-After", b"1"),)), Health(silences=1)),  # it has just begun
    ],
)
async def test_what_a_node_answers(answer: Response, expected: Health) -> None:
    server = ComponentServer({"/healthz": lambda request: answer})
    target = Target("127.0.0.1", await server.start("127.0.0.1", 0))
    try:
        checks = HealthChecks(Clock())
        await checks.learn([target])
        assert checks.healths == {target: expected}
    finally:
        await server.stop()
