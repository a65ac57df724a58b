"""Durations in Go's notation, and as kubectl shows ages."""

from __future__ import annotations

import pytest

from pybernetes.api.text.durations import human_duration, parse_duration, short_duration, show_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("1h30m", 5400), ("500ms", 0.5), ("-2s", -2), ("1.5m", 90), ("1h2m3s", 3723)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("..5s", 'time: invalid duration "..5s"'),
        ("s", 'time: invalid duration "s"'),
        ("3", 'time: missing unit in duration "3"'),
        ("1.2.3s", 'time: missing unit in duration "1.2.3s"'),
        ("3d", 'time: unknown unit "d" in duration "3d"'),
        ("9999999h", 'time: invalid duration "9999999h"'),
    ],
)
def test_what_is_no_duration(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_duration(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (0.0005, "500µs"), (1.5, "1.5s"), (90, "1m30s"), (3600, "1h0m0s"), (86400, "24h0m0s")],
)
def test_durations_are_written(seconds: float, text: str) -> None:
    assert show_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "<invalid>"), (-1, "0s"), (119, "119s"), (125, "2m5s"), (600, "10m"), (4 * 3600 + 60, "4h1m"),
     (86400, "24h"), (3 * 86400 + 7200, "3d2h"), (400 * 86400, "400d"), (3 * 365 * 86400, "3y")],
)  # fmt: skip
def test_ages(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-2, "<invalid>"), (-1, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (7200, "2h"), (86400, "1d"),
     (400 * 86400, "1y")],
)  # fmt: skip
def test_what_is_left(seconds: float, text: str) -> None:
    assert short_duration(seconds) == text
