"""Whether the store answers: one question for all who ask, since every load balancer and kubelet does so all the time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pybernetes.lib.clock import Clock

# A process that had no turn for long finds its time run out before it reads the answer that lies there already.
_GRACE_SECONDS = 0.1


class StoreCheck:
    """Asks the store, and remembers for half of the time that it has for an answer that it answered.

    Who asks while a question is under way waits for that one. A failure is not remembered: the store may be back.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[None]], seconds: float, clock: Clock | None = None
    ) -> None:
        self._ask, self._seconds, self._clock = ask, seconds, clock or Clock()
        self._task: asyncio.Task[str | None] | None = None
        self._answered = float("-inf")

    async def __call__(self) -> str | None:
        """Return what is wrong with the store; None if it answers."""
        if self._task is None:
            if self._clock.monotonic() - self._answered < self._seconds / 2:
                return None
            self._task = asyncio.get_running_loop().create_task(self._check(), name="store-check")
        return await asyncio.shield(self._task)

    async def _check(self) -> str | None:
        begun = self._clock.monotonic()
        asking = asyncio.ensure_future(self._ask())
        try:
            for seconds in (self._seconds, _GRACE_SECONDS):
                done, _ = await asyncio.wait((asking,), timeout=seconds)
                if done:
                    break
            if not asking.done():
                return f"the store did not answer within {self._seconds:g} s"
            asking.result()
        except Exception as error:
            return str(error) or type(error).__name__
        else:
            self._answered = begun
            return None
        finally:
            asking.cancel()
            self._task = None
