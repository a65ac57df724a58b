"""Remembers for a while whose token it was, where finding out takes time: by a hash that nobody else can make."""

from __future__ import annotations

import asyncio
import hmac
import os
import time
from collections.abc import Awaitable, Callable

from pybernetes.control_plane.apiserver.authn.authenticator import Audiences, AuthenticatedToken
from pybernetes.lib.memory.expiring_cache import ExpiringCache

_MOST_BYTES = 8 << 20
# What a text of a user takes beside its characters.
_TEXT_BYTES = 60
Ask = Callable[[bytes, Audiences], Awaitable[AuthenticatedToken | None]]


class TokenCache:
    """Asks once for all who show the same token meanwhile, and keeps the answer; errors are not kept."""

    def __init__(self, ask: Ask, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._seconds = ask, seconds
        self._secret = os.urandom(32)
        self._answers: ExpiringCache[AuthenticatedToken | None] = ExpiringCache(_MOST_BYTES, clock)
        self._waiting: dict[bytes, asyncio.Task[AuthenticatedToken | None]] = {}

    def find(
        self, token: bytes, audiences: Audiences
    ) -> AuthenticatedToken | Awaitable[AuthenticatedToken | None] | None:
        """Return whose token it is: at once if that is remembered."""
        key = hmac.digest(self._secret, b"\0".join((token, *(name.encode() for name in audiences))), "sha256")
        known = self._answers.get(key)
        if known is not None:
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
        answer = task.result()
        self._answers.put(key, answer, _size(answer), self._seconds)


def _size(answer: AuthenticatedToken | None) -> int:
    """Return about how many bytes an answer takes: a webhook may name as many groups as it likes."""
    if answer is None:
        return 0
    user = answer.user
    texts = [user.name, user.uid, *user.groups, *answer.audiences, *answer.warnings, *user.extra]
    texts += [value for values in user.extra.values() for value in values]
    return sum(map(len, texts)) + _TEXT_BYTES * len(texts)
