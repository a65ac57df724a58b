"""Many calls at once, a few at first, so that what must fail fails only a few times."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from pybernetes.client.errors import StatusError

# Upstream's limit of pods that one call makes or deletes.
BURST = 500


async def slow_start(makers: Sequence[Callable[[], Awaitable[Any]]]) -> tuple[int, StatusError | None]:
    """Call functions in batches of 1, 2, 4, …; after a batch with a failure no further one begins.

    Gives how many succeeded and the first failure.
    """
    done = successes = 0
    size = 1
    while done < len(makers):
        batch = makers[done : done + size]
        failures = await at_once(maker() for maker in batch)
        successes += len(batch) - len(failures)
        if failures:
            return successes, failures[0]
        done += len(batch)
        size *= 2
    return successes, None


async def at_once(calls: Iterable[Awaitable[Any]]) -> list[StatusError]:
    """Wait for concurrent calls; return the errors that the server answered."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    refused = []
    for result in results:
        if isinstance(result, StatusError):
            refused.append(result)
        elif isinstance(result, BaseException):
            raise result
    return refused
