"""Remembers for a while whose token it was, where finding out takes time: by a hash that nobody else can make."""

from __future__ import annotations

import asyncio
import hmac
import os
import time
from collections.abc import Awaitable, Callable

from pybernetes.control_plane.apiserver.authn.authenticator import Audiences, AuthenticatedToken

_MOST = 4096
Ask = Callable[[bytes, Audiences], Awaitable[AuthenticatedToken | None]]


class TokenCache:
    """Asks once for all who show the same token meanwhile, and keeps the answer; errors are not kept."""

    def __init__(self, ask: Ask, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._seconds, self._clock = ask, seconds, clock
        self._secret = os.urandom(32)
        self._answers: dict[bytes, tuple[AuthenticatedToken | None, float]] = {}
        self._waiting: dict[bytes, asyncio.Task[AuthenticatedToken | None]] = {}

    def find(
        self, token: bytes, audiences: Audiences
    ) -> AuthenticatedToken | Awaitable[AuthenticatedToken | None] | None:
        """Return whose token it is: at once if that is remembered."""
        key = hmac.digest(self._secret, b"\0".join((token, *(name.encode() for name in audiences))), "sha256")
        known = self._answers.get(key)
        if known is not None and self._clock() < known[1]:
            return known[0]
        return self._later(key, token, audiences)

    async def _later(self, key: bytes, token: bytes, audiences: Audiences) -> AuthenticatedToken | None:
        task = self._waiting.get(key)
        if task is None:
            task = asyncio.ensure_future(self._ask(token, audiences))
            self._waiting[key] = task
            task.add_done_callback(lambda done: self._done(key, done))
        return await asyncio.shield(task)

    def _done(self, key: bytes, task: asyncio.Task[AuthenticatedToken | None]) -> None:
        del self._waiting[key]
        if task.cancelled() or task.exception() is not None:
            return
        self._answers.pop(key, None)
        self._answers[key] = (task.result(), self._clock() + self._seconds)
        if len(self._answers) > _MOST:
            del self._answers[next(iter(self._answers))]
