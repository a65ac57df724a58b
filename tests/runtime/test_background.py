"""Background tasks end with their owner."""

from __future__ import annotations

import asyncio

from pybernetes.runtime.background import BackgroundTasks


async def test_tasks_get_some_time_to_end_and_are_then_cancelled() -> None:
    tasks, gate = BackgroundTasks("test"), asyncio.Event()
    ended: list[str] = []

    async def work(name: str, event: asyncio.Event) -> None:
        try:
            await event.wait()
            ended.append(name)
        except asyncio.CancelledError:
            ended.append(f"{name} cancelled")
            raise

    tasks.start(work("quick", gate))
    tasks.start(work("endless", asyncio.Event()))
    asyncio.get_running_loop().call_soon(gate.set)
    await tasks.close(0.05)
    assert ended == ["quick", "endless cancelled"]
    await tasks.close(0.05)  # nothing is left
