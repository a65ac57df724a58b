"""What finds out who holds an event loop."""

from __future__ import annotations

import asyncio

from pybernetes.lib.event_loop.loop_watchdog import LoopWatchdog, Turn
from pybernetes.lib.metrics.exposition import Exposition
from tests.support import block_the_loop, eventually, hold_the_loop


async def test_a_long_turn_is_told_with_the_function_it_was_in() -> None:
    told: list[Turn] = []
    watchdog = LoopWatchdog(0.02, told.append)
    watchdog.start()
    try:
        # The watchdog asks now and then; a turn that it slept through is tried again.
        async def seen() -> bool:
            hold_the_loop(0.2)
            await asyncio.sleep(0)
            return bool(told)

        while not await seen():
            pass
    finally:
        watchdog.stop()
    assert "hold_the_loop" in max(told, key=lambda turn: turn.seconds).function
    assert watchdog.turns == len(told) and watchdog.longest.seconds >= 0.02
    out = Exposition()
    watchdog.render(out)
    text = out.render().decode()
    assert f"pybernetes_event_loop_long_turns_total {len(told)}" in text
    assert "hold_the_loop" in text


async def test_waiting_is_no_turn() -> None:
    """A thread that sleeps holds the loop, but takes no processor time; and a loop that waits is not held at all."""
    watchdog = LoopWatchdog(0.05, asks_every=0.001)
    watchdog.start()
    block_the_loop(0.2)
    turns = iter(range(20))
    await eventually(lambda: next(turns, None) is None)
    watchdog.stop()
    assert watchdog.turns == 0 and watchdog.longest == Turn(0.0, "")


async def test_it_ends_with_the_loop() -> None:
    watchdog = LoopWatchdog(0.02)
    loop = asyncio.new_event_loop()

    async def start() -> None:
        watchdog.start()

    await asyncio.to_thread(loop.run_until_complete, start())
    loop.close()
    assert watchdog._thread is not None
    thread = watchdog._thread
    await eventually(lambda: not thread.is_alive())
