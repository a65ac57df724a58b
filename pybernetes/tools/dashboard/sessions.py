"""Who is logged in: one-time codes, and sessions that live in memory only. Time and randomness are passed in."""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pybernetes.lib.clock import Clock

_CODE_SECONDS = 600.0
# A session that nobody uses ends, and so does one that is always used.
IDLE_SECONDS = 3600.0
LONGEST_SECONDS = 12 * 3600.0
_MOST_SESSIONS = 64
_COOKIE = "pyb-dashboard"
# Of a log-in that has begun at an OpenID provider.
LOG_IN_COOKIE = "pyb-dashboard-log-in"
_BYTES = 32

Identity = TypeVar("Identity")


def _random() -> str:
    return secrets.token_urlsafe(_BYTES)


@dataclass(slots=True)
class Session(Generic[Identity]):
    """A browser that is logged in. ``token`` is what its pages send along with each request, beside the cookie."""

    identity: Identity
    token: str
    whose: str
    began: float
    used: float
    # Told when the session is over: streams that are open end then.
    on_end: list[Callable[[], None]] = field(default_factory=list)

    def proves(self, token: str) -> bool:
        """Return whether a page knows the session's token."""
        return hmac.compare_digest(self.token.encode(), token.encode())


class Sessions(Generic[Identity]):
    """The sessions of a server, and the code of its one-time link."""

    def __init__(self, clock: Clock | None = None, random: Callable[[], str] = _random) -> None:
        self._clock, self._random = clock or Clock(), random
        self._sessions: dict[str, Session[Identity]] = {}
        self._code, self._code_until = "", 0.0

    def __len__(self) -> int:
        return len(self._sessions)

    def new_code(self) -> str:
        """Return a code that is good for one log-in within some minutes; the one before it is good no more."""
        self._code, self._code_until = self._random(), self._clock.monotonic() + _CODE_SECONDS
        return self._code

    def take_code(self, code: str) -> bool:
        """Return whether a code is good, which it is once."""
        good = bool(self._code) and self._clock.monotonic() < self._code_until
        if not good or not hmac.compare_digest(self._code.encode(), code.encode()):
            return False
        self._code = ""
        return True

    def begin(self, identity: Identity, whose: str) -> tuple[str, Session[Identity]]:
        """Begin a session of a user; return what the browser's cookie holds, and the session.

        When there are too many, one ends of the user who has most of them: nobody logs others out by logging in.
        """
        self.expire()
        while len(self._sessions) >= _MOST_SESSIONS:
            have = Counter(session.whose for session in self._sessions.values())
            self.end(min(self._sessions, key=lambda secret: self._rank(have, self._sessions[secret])))
        now = self._clock.monotonic()
        secret = self._random()
        session = self._sessions[secret] = Session(identity, self._random(), whose, now, now)
        return secret, session

    @staticmethod
    def _rank(have: Counter[str], session: Session[Identity]) -> tuple[int, float]:
        return -have[session.whose], session.used

    def get(self, secret: str) -> Session[Identity] | None:
        """Return the session of a cookie, if it is still good."""
        session = self._sessions.get(secret)
        if session is None:
            return None
        now = self._clock.monotonic()
        if self._is_over(session, now):
            self.end(secret)
            return None
        session.used = now
        return session

    def end(self, secret: str) -> None:
        """End a session, and what goes on in it."""
        session = self._sessions.pop(secret, None)
        if session is not None:
            for callback in list(session.on_end):
                callback()

    def identities(self) -> list[Identity]:
        """Return who is logged in, once for each session."""
        return [session.identity for session in self._sessions.values()]

    def expire(self) -> None:
        """End sessions whose time is over."""
        now = self._clock.monotonic()
        for secret in [secret for secret, session in self._sessions.items() if self._is_over(session, now)]:
            self.end(secret)

    def _is_over(self, session: Session[Identity], now: float) -> bool:
        # An open stream is use: only its end is the end.
        idle = not session.on_end and now - session.used >= IDLE_SECONDS
        return idle or now - session.began >= LONGEST_SECONDS


def cookie(secret: str, secure: bool = False, name: str = _COOKIE) -> str:
    """Return the cookie of a session. It has no age: it ends with the browser, and with the server."""
    return (
        f"{name_of(name, secure)}={secret}; Path=/; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"
    )


def name_of(name: str, secure: bool) -> str:
    """Return what a cookie is called. Over TLS no other host of the domain can set one with that name: browsers see to it."""
    return f"__Host-{name}" if secure else name


def no_cookie(secure: bool = False, name: str = _COOKIE) -> str:
    """Return what makes a browser forget the cookie."""
    return f"{cookie('', secure, name)}; Max-Age=0"


def secret_of(header: str, secure: bool = False, name: str = _COOKIE) -> str:
    """Return what a request's cookies say about the session, empty if nothing, or two things at once."""
    values = [
        value.strip()
        for own, _, value in (part.partition("=") for part in header.split(";"))
        if own.strip() == name_of(name, secure)
    ]
    return values[0] if len(values) == 1 else ""
