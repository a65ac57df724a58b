"""Tokens of a provider that is not our friend: its keys, and where their signatures are checked."""

from __future__ import annotations

import threading
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from pybernetes.control_plane.apiserver.authn.authenticator import InvalidCredentials
from pybernetes.control_plane.apiserver.authn.jwt import key_set, verification
from pybernetes.control_plane.apiserver.authn.jwt.jwt_authenticators import JwtAuthenticators
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings, Mapping
from pybernetes.lib.http.client import HttpClient

ISSUER = "https://issuer.example"


def listed(exponent: int, bits: int = 2048) -> dict[str, Any]:
    """Return a public key as a provider lists it; nobody has the private one."""
    numbers = rsa.RSAPublicNumbers(exponent, (1 << (bits - 1)) + 1)
    return RSAAlgorithm.to_jwk(numbers.public_key(), as_dict=True)


@pytest.mark.parametrize(
    ("key", "is_taken"),
    [
        (listed(65537), True),
        (listed((1 << 31) - 1), True),
        (listed((1 << 31) + 1), False),
        (listed((1 << 2046) + 1), False),
        (listed(65537, 8192), True),
        (listed(65537, 16384), False),
        (listed(65537, 512), False),
    ],
)
def test_keys_whose_signatures_take_long_to_check_are_left_out(key: dict[str, Any], is_taken: bool) -> None:
    assert bool(key_set._keys([key])) is is_taken


@pytest.mark.parametrize("many", [True, False])
async def test_signatures_of_many_keys_are_checked_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    """A token that names no key is tried with each of them: 500 held the loop for seconds."""
    threads: list[int] = []
    signed = verification._signed

    def noted(*args: Any) -> bool:
        threads.append(threading.get_ident())
        return signed(*args)

    monkeypatch.setattr(verification, "_signed", noted)
    settings = JwtSettings(ISSUER, ("a",), Mapping("sub"))
    authenticators = JwtAuthenticators(HttpClient(), ("a",), time.time, [settings])
    private = rsa.generate_private_key(65537, 2048)
    own = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    keys = key_set._keys([listed(65537)] * 20 * many + [own])
    authenticators._issuers[ISSUER][1]._keys = keys
    claims = {"iss": ISSUER, "aud": "a", "sub": "x", "exp": int(time.time()) + 600}
    known = authenticators.find(jwt.encode(claims, private, "RS256").encode(), ("a",))
    assert known is not None
    answer = await known
    assert answer is not None and answer.user.name == "x"
    assert len(threads) == len(keys) and (threading.get_ident() in threads) is not many
    stranger = rsa.generate_private_key(65537, 2048)
    forged = authenticators.find(jwt.encode(claims, stranger, "RS256").encode(), ("a",))
    assert forged is not None
    with pytest.raises(InvalidCredentials, match="failed to verify signature"):
        await forged
