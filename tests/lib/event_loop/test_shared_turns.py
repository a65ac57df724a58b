"""Pieces that share the turns of a loop."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.lib.event_loop.shared_turns import _PIECES, PIECE, SharedTurns, pieces


async def test_a_turn_has_so_many_pieces_of_all() -> None:
    turns, order, turn = SharedTurns(), [], 0

    def count() -> None:
        nonlocal turn
        turn += 1
        asyncio.get_running_loop().call_soon(count)

    async def send(number: int) -> None:
        for _ in range(10):
            await turns.mine()
            order.append((turn, number))

    count()
    async with asyncio.timeout(60):
        await asyncio.gather(*map(send, range(100)))
    by_turn = [sum(1 for at, _ in order if at == turn_number) for turn_number in range(turn + 1)]
    assert len(order) == 1000 and max(by_turn) <= 2 * _PIECES
    first = [number for _, number in order[:100]]
    assert len(set(first)) > 2 * _PIECES  # and not the first four, who would be done


async def test_who_gives_up_takes_no_turn() -> None:
    turns, done = SharedTurns(), 0

    async def send() -> None:
        nonlocal done
        for _ in range(5):
            await turns.mine()
        done += 1

    tasks = [asyncio.create_task(send()) for _ in range(60)]
    await asyncio.sleep(0)
    for task in tasks[:50]:
        task.cancel()
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert 10 <= done < 60


def test_it_goes_from_one_loop_to_the_next() -> None:
    turns = SharedTurns()

    async def use() -> None:
        async with asyncio.timeout(60):
            await asyncio.gather(*(turns.mine() for _ in range(3 * _PIECES)))

    for _ in range(3):
        asyncio.run(use())


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 5 * PIECE])
def test_pieces(size: int) -> None:
    data = bytes(size)
    cut = list(pieces(data))
    assert b"".join(cut) == data and all(len(piece) <= PIECE for piece in cut)
