"""Log-ins at an OpenID provider that have begun: what each is known by, until the browser comes back. Pure but for randomness."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from pybernetes.lib.clock import Clock

SECONDS = 600.0
_MOST = 64
_BYTES = 32


def _random() -> str:
    return secrets.token_urlsafe(_BYTES)


@dataclass(frozen=True, slots=True)
class LogIn:
    """A log-in that has begun. ``secret`` is in a cookie: whoever comes back must be the browser that went.

    Otherwise an attacker's link could log somebody in as the attacker.
    """

    state: str
    nonce: str
    verifier: str
    secret: str
    redirect: str
    until: float


class LogIns:
    """The log-ins that have begun; the oldest is forgotten when there are too many."""

    def __init__(self, clock: Clock | None = None, random: Callable[[], str] = _random) -> None:
        self._clock, self._random = clock or Clock(), random
        self._begun: dict[str, LogIn] = {}

    def begin(self, redirect: str) -> LogIn:
        """Begin one."""
        while len(self._begun) >= _MOST:
            del self._begun[next(iter(self._begun))]
        state, nonce, verifier, secret = (self._random() for _ in range(4))
        begun = LogIn(state, nonce, verifier, secret, redirect, self._clock.monotonic() + SECONDS)
        self._begun[state] = begun
        return begun

    def take(self, state: str, secret: str) -> LogIn | None:
        """Return the log-in that a browser comes back from, which it does once."""
        begun = self._begun.get(state)
        if begun is None or not hmac.compare_digest(begun.secret.encode(), secret.encode()):
            return None
        del self._begun[state]
        return begun if self._clock.monotonic() < begun.until else None
