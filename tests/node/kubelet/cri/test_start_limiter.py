"""Who is let through to the runtime, and when."""

from __future__ import annotations

import asyncio

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.cri.start_limiter import CREATE, SANDBOX, START, StartLimiter
from tests.support import run


def test_the_furthest_pods_come_first_and_nobody_waits_for_the_stuck() -> None:
    async def work() -> None:
        clock = ManualClock()
        limiter = StartLimiter(clock, 1)
        order: list[str] = []
        stuck = asyncio.Event()

        async def take(name: str, urgency: int, until: asyncio.Event | None = None) -> None:
            async with limiter.slot(urgency):
                order.append(name)
                if until is not None:
                    await until.wait()

        holder = asyncio.create_task(take("holder", SANDBOX, stuck))
        await clock.advance(0)
        waiting = {
            name: asyncio.create_task(take(name, urgency))
            for name, urgency in (
                ("a", SANDBOX),
                ("b", SANDBOX),
                ("c", CREATE),
                ("d", START),
                ("gone", START),
            )
        }
        await clock.advance(0)
        waiting.pop("gone").cancel()
        await clock.advance(0)
        assert order == ["holder"]
        await clock.advance(10)
        await asyncio.gather(*waiting.values())
        assert order == ["holder", "d", "c", "a", "b"]
        stuck.set()
        await holder
        async with asyncio.timeout(60), limiter.slot(SANDBOX):
            pass
        assert limiter._free == 1

    run(work())
