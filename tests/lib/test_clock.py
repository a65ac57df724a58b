import asyncio

from pybernetes.lib.clock import Clock, ManualClock


async def test_the_real_clock() -> None:
    clock = Clock()
    assert clock.now() > 1_700_000_000
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before


async def test_sleepers_wake_in_order_at_their_own_moments() -> None:
    clock = ManualClock(now=1000)
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now()))

    tasks = [
        asyncio.create_task(sleeper(name, seconds)) for name, seconds in (("b", 20), ("a", 10), ("c", 99))
    ]
    await clock.advance(5)
    assert (woken, clock.sleepers, clock.monotonic()) == ([], 3, 5)
    await clock.advance(25)
    assert woken == [("a", 1010), ("b", 1020)]
    assert clock.now() == 1030
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert clock.sleepers == 0


async def test_a_sleeper_that_sleeps_again_is_woken_again() -> None:
    clock = ManualClock(now=0)
    ticks: list[float] = []

    async def ticker() -> None:
        while True:
            await clock.sleep(10)
            ticks.append(clock.now())

    task = asyncio.create_task(ticker())
    await clock.advance(35)
    task.cancel()
    assert ticks == [10, 20, 30]
