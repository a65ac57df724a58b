"""The keys of an OpenID provider: found by its discovery document, fetched when a token names one that is not known.

What a provider answers is input like any other: bounded in size and time, and asked for at most once a second.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.client_connection import Reply
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.http.fetching import located
from pybernetes.lib.tls import tls

log = logging.getLogger(__name__)
_SECONDS = 10.0
_MOST_BYTES, _MOST_KEYS = 1 << 20, 500
# Of an RSA key. Whoever has no token at all makes us check a signature, which takes 6 ms with an exponent of 2,048 bits; that of
# Go's keys is no larger than this either.
_MOST_BITS, _LARGEST_EXPONENT = 8192, (1 << 31) - 1
_AGAIN_SECONDS, _AFTER_FAILURE = 1.0, 3.0
_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
Key = tuple[str, tuple[str, ...], Any]  # its name, the algorithms that it may be used with, and itself


class Unavailable(Exception):
    """The provider's keys are not known; the text says why."""


class Fetcher:
    """Gets documents as the settings of an issuer say, by its own way if it has one; a server has so many seconds for each."""

    def __init__(
        self,
        settings: JwtSettings,
        https: HttpClient,
        dialer: Dialer | None = None,
        seconds: float = _SECONDS,
    ) -> None:
        self._https, self._dialer, self._seconds = https, dialer, seconds
        self._context: ssl.SSLContext = tls.client_context(authority_data=settings.authority or None)

    async def get(self, address: str, headers: Mapping[str, str]) -> Reply:
        """Return what is at an address; Unavailable if nobody answers, or with too much."""
        try:
            peer, path = located(address, self._context, self._dialer)
            sent = {"User-Agent": "kube-apiserver", **headers}
            reply = await self._https.send(peer, "GET", path, b"", sent, self._seconds)
        except (RequestFailed, OSError, ValueError) as error:
            raise Unavailable(f'Get "{address}": {error}') from None
        if len(reply.body) > _MOST_BYTES:
            raise Unavailable(f"{address} answered with status {reply.status} and {len(reply.body)} bytes")
        return reply


class KeySet:
    """The keys of one provider."""

    def __init__(
        self, settings: JwtSettings, fetcher: Fetcher, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings, self._fetcher, self._clock = settings, fetcher, clock
        self._keys: list[Key] = []
        self._problem = f'oidc: authenticator for issuer "{settings.url}" is not initialized'
        self._next = float("-inf")  # before then nobody asks again
        self._fetching: asyncio.Task[None] | None = None

    def prefetch(self) -> None:
        """Begin to fetch the keys, so that the first token need not wait for them."""
        if self._fetching is None:
            self._fetching = asyncio.ensure_future(self._fetch())

    async def find(self, key_id: str, algorithm: str) -> list[Any]:
        """Return the keys that a token may be signed with; Unavailable if there is none."""
        if not self._fitting(key_id, algorithm):
            await self.refresh()
        if not self._keys:
            raise Unavailable(self._problem)
        return self._fitting(key_id, algorithm)

    async def refresh(self) -> bool:
        """Fetch the keys, unless that was done a moment ago; return whether it was done now."""
        before = self._keys
        if self._fetching is None and self._clock() >= self._next:
            self.prefetch()
        if self._fetching is not None:
            await asyncio.shield(self._fetching)
        return self._keys is not before

    def _fitting(self, key_id: str, algorithm: str) -> list[Any]:
        return [
            key for name, algorithms, key in self._keys if algorithm in algorithms and key_id in ("", name)
        ]

    async def _fetch(self) -> None:
        try:
            self._keys = await self._read()
            self._next = self._clock() + _AGAIN_SECONDS
        except Unavailable as error:
            self._problem = f'oidc: authenticator for issuer "{self._settings.url}" is not healthy: {error}'
            self._next = self._clock() + _AFTER_FAILURE
            log.error("oidc authenticator: %s", error)
        finally:
            self._fetching = None

    async def _read(self) -> list[Key]:
        settings = self._settings
        address = settings.discovery_url or settings.url.rstrip("/") + "/.well-known/openid-configuration"
        document = await self._get(address)
        if document.get("issuer") != settings.url:
            raise Unavailable(
                f"oidc: issuer did not match the issuer returned by provider, expected {settings.url!r}"
            )
        where = document.get("jwks_uri")
        if not isinstance(where, str) or not where.startswith("https://"):
            raise Unavailable("provider did not return JWKS URL")
        listed = (await self._get(where)).get("keys")
        if not isinstance(listed, list) or len(listed) > _MOST_KEYS:
            raise Unavailable(f"{where} has no list of keys")
        return await off_loop.beside(_keys, listed)

    async def _get(self, address: str) -> dict[str, Any]:
        reply = await self._fetcher.get(address, {"Accept": "application/json"})
        if reply.status != 200:
            raise Unavailable(f"{address} answered with status {reply.status} and {len(reply.body)} bytes")
        try:
            value = await off_loop.run(len(reply.body), orjson.loads, reply.body)
        except ValueError as error:
            raise Unavailable(f"{address}: {error}") from None
        if not isinstance(value, dict):
            raise Unavailable(f"{address} answered with no object")
        return value


def _keys(listed: list[Any]) -> list[Key]:
    """Return those keys of a set that can be used to check signatures; others are left out."""
    import jwt

    keys: list[Key] = []
    for entry in listed:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        kind, name = entry.get("kty"), entry.get("kid", "")
        algorithms = _RSA if kind == "RSA" else tuple(filter(None, (_CURVES.get(str(entry.get("crv"))),)))
        if kind not in ("RSA", "EC") or not algorithms or not isinstance(name, str) or "d" in entry:
            continue
        if isinstance(entry.get("alg"), str):
            algorithms = tuple(algorithm for algorithm in algorithms if algorithm == entry["alg"])
        if not algorithms:
            continue
        try:
            key = jwt.PyJWK(entry, algorithms[0]).key
            if kind == "RSA" and not _is_quick(key):
                continue
            keys.append((name, algorithms, key))
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            continue
    return keys


def _is_quick(key: Any) -> bool:
    """Return whether a signature of an RSA key can be checked in a moment, and means something."""
    return 1024 <= key.key_size <= _MOST_BITS and key.public_numbers().e <= _LARGEST_EXPONENT
