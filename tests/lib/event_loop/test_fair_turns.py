"""Whose work is next."""

from __future__ import annotations

import pytest

from pybernetes.lib.event_loop.fair_turns import FairTurns, Owner

A, B, POD = Owner("people", "a"), Owner("people", "b"), Owner("pods", "p")


def all_of(turns: FairTurns[str], takes: int) -> list[str]:
    """Return all work in its order."""
    order = []
    while takes:
        owner, item = turns.take()
        order.append(item)
        takes -= not turns.done(owner)
    return order


@pytest.mark.parametrize(
    ("put", "order"),
    [
        ([(A, 1, "a1"), (A, 2, "a2")], "a1 a2"),
        ([(A, 1, "a1"), (A, 2, "a2"), (A, 3, "a3"), (B, 4, "b4")], "a1 b4 a2 a3"),
        # What was begun is ended before the next begins.
        ([(A, 2, "a2"), (A, 3, "a3"), (A, 1, "a1"), (A, 2, "a2 again")], "a1 a2 a2 again a3"),
        # Many owners in one group do not outvote another group.
        ([(A, 1, "a1"), (B, 2, "b2"), (A, 3, "a3"), (B, 4, "b4"), (POD, 5, "p5"), (POD, 6, "p6")],
         "a1 p5 b2 p6 a3 b4"),
    ],
)  # fmt: skip
def test_order(put: list[tuple[Owner, int, str]], order: str) -> None:
    turns: FairTurns[str] = FairTurns()
    takes = sum(turns.put(*work) for work in put)
    assert " ".join(all_of(turns, takes)) == order
    assert not (turns._waiting or turns._turns)


def test_an_owner_has_one_piece_of_work_done_at_a_time() -> None:
    turns: FairTurns[str] = FairTurns()
    assert turns.put(A, 1, "a1") and not turns.put(A, 2, "a2")
    owner, _ = turns.take()
    assert not turns.put(A, 3, "a3") and turns.put(B, 4, "b4")
    assert turns.take() == (B, "b4")
    assert not turns.done(B) and turns.done(owner)
    assert turns.take() == (A, "a2")
