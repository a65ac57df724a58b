"""The issuers whose tokens are believed, as flags or a file name them; a file is taken over when it changes."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    AuthenticatedToken,
    InvalidCredentials,
    meant_for,
)
from pybernetes.control_plane.apiserver.authn.jwt.key_set import KeySet, Unavailable
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings
from pybernetes.control_plane.apiserver.authn.jwt.user_of_claims import Unacceptable, user_of
from pybernetes.control_plane.apiserver.config_reloads import hashed
from pybernetes.lib import jose, off_loop
from pybernetes.lib.exposition import Exposition
from pybernetes.lib.http.client import HttpClient
from pybernetes.lib.http.dialer import Dialer

_EARLY_SECONDS = 300.0  # that a token may be used before its time, for clocks that differ
_BOUNDS = tuple(0.001 * 2**power for power in range(15))
_METRIC = "apiserver_authentication_jwt_authenticator_latency_seconds"


class JwtAuthenticators:
    """Knows tokens by their issuers."""

    def __init__(
        self,
        https: HttpClient,
        own: Audiences,
        clock: Callable[[], float],
        settings: Sequence[JwtSettings],
        egress: Callable[[str], Dialer | None] = lambda selection: None,
    ) -> None:
        self._https, self._own, self._clock, self._egress = https, own, clock, egress
        self._issuers: dict[str, tuple[JwtSettings, KeySet]] = {}
        self._latencies: dict[tuple[str, str], tuple[list[int], float]] = {}
        self.replace(settings)

    def replace(self, settings: Sequence[JwtSettings]) -> None:
        """Believe these issuers from now on."""
        self._issuers = {
            entry.url: (entry, KeySet(entry, self._https, dialer=self._egress(entry.egress)))
            for entry in settings
        }

    def start(self) -> None:
        """Begin to fetch the keys of all issuers."""
        for _, keys in self._issuers.values():
            keys.prefetch()

    def find(self, token: bytes, audiences: Audiences) -> Awaitable[AuthenticatedToken | None] | None:
        """Return whose token it is; None if it is of no issuer that is known."""
        if not self._issuers or token.count(b".") != 2:
            return None
        try:
            parsed = jose.parse(token)
        except jose.JoseError:
            return None
        issuer = parsed.claims.get("iss")
        known = self._issuers.get(issuer) if isinstance(issuer, str) else None
        return None if known is None else self._measured(known, parsed, audiences)

    async def _measured(
        self, known: tuple[JwtSettings, KeySet], parsed: jose.Parsed, audiences: Audiences
    ) -> AuthenticatedToken | None:
        begin, result = time.monotonic(), "failure"
        try:
            user = await self._verify(known, parsed, audiences)
            result = "success"
            return user
        finally:
            seconds = time.monotonic() - begin
            counts, total = self._latencies.get((known[0].url, result), ([0] * (len(_BOUNDS) + 1), 0.0))
            counts[bisect_left(_BOUNDS, seconds)] += 1
            self._latencies[known[0].url, result] = (counts, total + seconds)

    async def _verify(
        self, known: tuple[JwtSettings, KeySet], parsed: jose.Parsed, audiences: Audiences
    ) -> AuthenticatedToken | None:
        settings, keys = known
        header, claims = parsed.header, parsed.claims
        algorithm, key_id = header.get("alg"), header.get("kid", "")
        if algorithm not in settings.algorithms or not isinstance(key_id, str) or "crit" in header:
            raise InvalidCredentials("oidc: verify token: oidc: id token signed with unsupported algorithm")
        try:
            candidates = await keys.find(key_id, algorithm)
            # One signature is checked at once; a provider may have many keys, and a token need not say which it means.
            size = 0 if len(candidates) < 2 else off_loop.LARGE + 1
            if not await off_loop.run(size, _signed_by_any, parsed.token, candidates, algorithm):
                raise InvalidCredentials("oidc: verify token: failed to verify signature")
            expires = self._check_times(claims)
            _check_audience(settings.audiences, claims)
            user = await off_loop.run_counting(len(parsed.token), user_of, settings, claims)
        except (Unavailable, Unacceptable) as error:
            raise InvalidCredentials(str(error)) from None
        meant = meant_for(audiences, self._own)
        if not meant:
            return None
        return AuthenticatedToken(
            user, meant, holds=lambda: self._clock() < expires and self._issuers.get(settings.url) is known
        )

    def _check_times(self, claims: Any) -> float:
        now, expires, begins = self._clock(), claims.get("exp"), claims.get("nbf", 0)
        if isinstance(expires, bool) or not isinstance(expires, int | float) or not now < expires:
            raise InvalidCredentials("oidc: verify token: oidc: token is expired")
        if not isinstance(begins, int | float) or begins > now + _EARLY_SECONDS:
            raise InvalidCredentials(
                "oidc: verify token: oidc: current time is before the nbf (not before) time"
            )
        return float(expires)

    def render(self, out: Exposition) -> None:
        """Write the metrics."""
        out.family(_METRIC, "histogram", "Latency of jwt authentication operations in seconds.")
        for (issuer, result), (counts, total) in list(self._latencies.items()):
            labels = [("jwt_issuer_hash", hashed(issuer)), ("result", result)]
            out.histogram(_METRIC, labels, _BOUNDS, counts, total)


def _signed_by_any(token: bytes, keys: Sequence[Any], algorithm: str) -> bool:
    return any(_signed(token, key, algorithm) for key in keys)


def _signed(token: bytes, key: Any, algorithm: str) -> bool:
    import jwt

    try:
        jwt.api_jws.PyJWS([algorithm]).decode(token, key, [algorithm])
    except jwt.InvalidTokenError:
        return False
    return True


def _check_audience(wanted: tuple[str, ...], claims: Any) -> None:
    given = claims.get("aud")
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not any(name in wanted for name in listed if isinstance(name, str)):
        shown = " ".join(f'"{name}"' for name in sorted(wanted))
        raise InvalidCredentials(f"oidc: verify token: oidc: expected audience in [{shown}]")
