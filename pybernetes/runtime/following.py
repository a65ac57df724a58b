"""Informers that one loop runs by itself, without a manager's: followed together, and what they do not know yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from pybernetes.runtime.informer import Informer


@asynccontextmanager
async def following(
    informers: Sequence[Informer], *others: tuple[str, Callable[[], Awaitable[None]]]
) -> AsyncIterator[None]:
    """Run informers, and other work by its name, until the block ends; everything is known when it begins."""
    work = [*((str(informer.ref), informer.run) for informer in informers), *others]
    tasks = [asyncio.create_task(awaited(run), name=name) for name, run in work]
    try:
        for informer in informers:
            await informer.wait_synced()
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def awaited(run: Callable[[], Awaitable[None]]) -> None:
    """Run a function whose name says what its task does."""
    await run()


def late(informers: Iterable[Informer]) -> str | None:
    """Return what is not known yet, for a readiness page."""
    names = [str(informer.ref) for informer in informers if not informer.synced]
    return f"not synced yet: {', '.join(names)}" if names else None
