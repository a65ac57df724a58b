"""Whether a token is genuine: signed by a key of its issuer, for one of the audiences, and at its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pybernetes.control_plane.apiserver.authn.jwt.key_set import KeySet
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.tokens import jose

_EARLY_SECONDS = 300.0  # that a token may be used before its time, for clocks that differ


class Unverified(Exception):
    """The token is not believed; the text says why."""


async def verify(
    parsed: jose.Parsed, keys: KeySet, settings: JwtSettings, clock: Callable[[], float]
) -> float:
    """Return when a genuine token expires; Unverified if it is not genuine, Unavailable if that cannot be known."""
    header, claims = parsed.header, parsed.claims
    algorithm, key_id = header.get("alg"), header.get("kid", "")
    if algorithm not in settings.algorithms or not isinstance(key_id, str) or "crit" in header:
        raise Unverified("oidc: id token signed with unsupported algorithm")
    if not await _signed_by_one_of(parsed.token, await keys.find(key_id, algorithm), algorithm):
        # A provider may have changed its keys, and its tokens need not name the one that they mean.
        if not await keys.refresh():
            raise Unverified("failed to verify signature")
        if not await _signed_by_one_of(parsed.token, await keys.find(key_id, algorithm), algorithm):
            raise Unverified("failed to verify signature")
    expires = _check_times(claims, clock())
    _check_audience(settings.audiences, claims)
    return expires


def _check_times(claims: Any, now: float) -> float:
    expires, begins = claims.get("exp"), claims.get("nbf", 0)
    if isinstance(expires, bool) or not isinstance(expires, int | float) or not now < expires:
        raise Unverified("oidc: token is expired")
    if not isinstance(begins, int | float) or begins > now + _EARLY_SECONDS:
        raise Unverified("oidc: current time is before the nbf (not before) time")
    return float(expires)


async def _signed_by_one_of(token: bytes, keys: Sequence[Any], algorithm: str) -> bool:
    # One signature is checked at once; a provider may have many keys.
    size = 0 if len(keys) < 2 else off_loop.LARGE + 1
    return await off_loop.run(size, _signed_by_any, token, keys, algorithm)


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
        raise Unverified(f"oidc: expected audience in [{shown}]")
