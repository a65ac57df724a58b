"""The issuers whose tokens are believed, as flags or a file name them; a file is taken over when it changes."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    AuthenticatedToken,
    InvalidCredentials,
    meant_for,
)
from pybernetes.control_plane.apiserver.authn.jwt.distributed_claims import DistributedClaims
from pybernetes.control_plane.apiserver.authn.jwt.key_set import Fetcher, KeySet, Unavailable
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings
from pybernetes.control_plane.apiserver.authn.jwt.user_of_claims import Unacceptable, user_of
from pybernetes.control_plane.apiserver.authn.jwt.verification import Unverified, verify
from pybernetes.control_plane.apiserver.config_reloads import hashed
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.client import HttpClient
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram
from pybernetes.lib.tokens import jose

_BOUNDS = tuple(0.001 * 2**power for power in range(15))
_METRIC = "apiserver_authentication_jwt_authenticator_latency_seconds"
_Issuer = tuple[JwtSettings, KeySet, DistributedClaims]


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
        self._issuers: dict[str, _Issuer] = {}
        self._latencies: dict[tuple[str, str], Histogram] = {}
        self.replace(settings)

    def replace(self, settings: Sequence[JwtSettings]) -> None:
        """Believe these issuers from now on."""
        self._issuers = {entry.url: self._issuer(entry) for entry in settings}

    def _issuer(self, settings: JwtSettings) -> _Issuer:
        fetcher = Fetcher(settings, self._https, self._egress(settings.egress))
        return settings, KeySet(settings, fetcher), DistributedClaims(settings, fetcher, self._clock)

    def start(self) -> None:
        """Begin to fetch the keys of all issuers."""
        for _, keys, _ in self._issuers.values():
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
        self, known: _Issuer, parsed: jose.Parsed, audiences: Audiences
    ) -> AuthenticatedToken | None:
        begin, result = time.monotonic(), "failure"
        try:
            user = await self._verify(known, parsed, audiences)
            result = "success"
            return user
        finally:
            seconds = time.monotonic() - begin
            key = (known[0].url, result)
            if key not in self._latencies:
                self._latencies[key] = Histogram(_BOUNDS)
            self._latencies[key].observe(seconds)

    async def _verify(
        self, known: _Issuer, parsed: jose.Parsed, audiences: Audiences
    ) -> AuthenticatedToken | None:
        settings, keys, distributed = known
        try:
            expires = await verify(parsed, keys, settings, self._clock)
            claims = await distributed.expand(parsed.claims)
            user = await off_loop.run_counting(len(parsed.token), user_of, settings, claims)
        except Unverified as error:
            raise InvalidCredentials(f"oidc: verify token: {error}") from None
        except (Unavailable, Unacceptable) as error:
            raise InvalidCredentials(str(error)) from None
        meant = meant_for(audiences, self._own)
        if not meant:
            return None
        return AuthenticatedToken(
            user, meant, holds=lambda: self._clock() < expires and self._issuers.get(settings.url) is known
        )

    def render(self, out: Exposition) -> None:
        """Write the metrics."""
        out.family(_METRIC, "histogram", "Latency of jwt authentication operations in seconds.")
        for (issuer, result), histogram in list(self._latencies.items()):
            labels = [("jwt_issuer_hash", hashed(issuer)), ("result", result)]
            out.histogram(_METRIC, labels, histogram)
