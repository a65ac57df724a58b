"""Log-ins at an OpenID provider that have begun: what each is known by, until the browser comes back. Pure but for randomness.

Nothing is kept of them, so that strangers who begin many push nobody's out: what belongs to a log-in is worked out of what
its browser has in a cookie, with a key that only this process knows.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from pybernetes.lib.clock import Clock

SECONDS = 600.0
# Of so many log-ins that have ended it is known that they have; a provider's code is good for once anyway.
_MOST_ENDED = 1024
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
    """Begins log-ins, and knows them again."""

    def __init__(self, clock: Clock | None = None, random: Callable[[], str] = _random) -> None:
        self._clock, self._random = clock or Clock(), random
        self._key = secrets.token_bytes(_BYTES)
        self._ended: dict[str, None] = {}

    def begin(self, redirect: str) -> LogIn:
        """Begin one."""
        until = int(self._clock.monotonic() + SECONDS)
        place = urlsafe_b64encode(redirect.encode()).decode().rstrip("=")
        return self._of(f"{self._random()}.{until}.{place}", redirect, float(until))

    def take(self, state: str, secret: str) -> LogIn | None:
        """Return the log-in that a browser comes back from, which it does once."""
        # Whoever has no key cannot tell the state that goes with a secret: time and place in it are those of its beginning.
        if not hmac.compare_digest(self._derived("state", secret).encode(), state.encode()):
            return None
        _, until, place = secret.split(".")
        if secret in self._ended or self._clock.monotonic() >= float(until):
            return None
        if len(self._ended) >= _MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        self._ended[secret] = None
        return self._of(secret, urlsafe_b64decode(place + "=" * (-len(place) % 4)).decode(), float(until))

    def _of(self, secret: str, redirect: str, until: float) -> LogIn:
        state, nonce, verifier = (self._derived(name, secret) for name in ("state", "nonce", "verifier"))
        return LogIn(state, nonce, verifier, secret, redirect, until)

    def _derived(self, name: str, secret: str) -> str:
        digest = hmac.digest(self._key, f"{name} {secret}".encode(errors="replace"), sha256)
        return urlsafe_b64encode(digest).decode().rstrip("=")
