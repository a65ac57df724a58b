"""Whose slice is sent in which turn of the loop."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.lib.http import send_turns
from pybernetes.lib.http.send_turns import SendTurns


class Sender:
    """Has so many slices, and notes in which turn each was sent."""

    def __init__(self, name: str, slices: int, sent: list[tuple[int, str]]) -> None:
        self.name, self.left, self.sent, self.turn = name, slices, sent, lambda: 0

    def send_slice(self) -> bool:
        if not self.left:
            return False
        self.left -= 1
        self.sent.append((self.turn(), self.name))
        return bool(self.left)


@pytest.mark.parametrize(
    ("seconds", "sent"),
    [
        (60.0, [(0, "a"), (0, "a"), (0, "a"), (1, "b"), (1, "c"), (1, "c")]),
        (-1.0, [(0, "a"), (1, "a"), (2, "b"), (3, "c"), (4, "a"), (5, "c")]),
    ],
)
async def test_a_turn_has_a_few_milliseconds(
    monkeypatch: pytest.MonkeyPatch, seconds: float, sent: list[tuple[int, str]]
) -> None:
    monkeypatch.setattr(send_turns, "_TURN_SECONDS", seconds)
    turns, noted, turn = SendTurns(), list[tuple[int, str]](), 0
    senders = [Sender("a", 3, noted), Sender("b", 1, noted), Sender("c", 2, noted)]
    for sender in senders:
        sender.turn = lambda: turn
        turns.ask(sender)  # all of them in one turn
    for _ in range(8):
        turn += 1
        await asyncio.sleep(0)
    assert noted == sent
    turns.ask(Sender("d", 1, noted))  # nobody else has anything to send
    assert noted[-1] == (0, "d")
