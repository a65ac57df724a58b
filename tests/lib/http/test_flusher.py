"""Whose turn it is to send, with a clock and a loop that do what the test says."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.http import stream as module
from pybernetes.lib.http.stream import Flusher


class World:
    """The clock, the loop, and streams that take time to be flushed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.flushed, self.due = 100.0, 0, 0.0
        self.soon: list[Callable[[], None]] = []
        self.flusher = Flusher()
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(module, "asyncio", SimpleNamespace(get_running_loop=lambda: self))

    def call_soon(self, function: Callable[[], None]) -> None:
        """Have something done in the next turn."""
        self.soon.append(function)

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Have something done after a while."""
        self.due = seconds
        self.soon.append(function)

    def send(self, streams: int, seconds: float) -> None:
        """Let streams have something to send, each of which takes a while."""

        def flush() -> None:
            self.flushed += 1
            self.now += seconds

        stream: Any = SimpleNamespace(flush=flush)
        for _ in range(streams):
            self.flusher.add(stream)

    def turns(self) -> int:
        """Let the loop turn until there is nothing to do; return how often it did."""
        count = 0
        while self.soon:
            self.soon.pop(0)()
            count += 1
        return count


def test_a_turn_is_for_a_few_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    world.send(20, 0.0)
    assert (world.turns(), world.flushed) == (3, 20)


@pytest.mark.parametrize(
    ("streams", "seconds", "rest"),
    [
        (1, 0.00001, 0.0),  # alone: whatever comes next goes out at once
        (20, 0.00001, 0.0006),  # three times as long as it took
        (500, 0.00001, 0.004),  # and not longer than anybody would notice
    ],
)
def test_many_streams_are_followed_by_a_rest(
    monkeypatch: pytest.MonkeyPatch, streams: int, seconds: float, rest: float
) -> None:
    world = World(monkeypatch)
    world.send(streams, seconds)
    world.turns()
    world.send(1, seconds)
    assert world.due == pytest.approx(rest)
    world.turns()
    assert world.flushed == streams + 1
    world.due = 0.0
    world.now += 1.0
    world.send(1, seconds)  # what comes after the rest does not wait
    assert world.due == 0.0
