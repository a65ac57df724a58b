"""Bootstrap tokens: signatures and time left."""

from __future__ import annotations

import base64
import math

import orjson
import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._tokens import bootstrap
from pybernetes.lib import rfc3339
from tests.control_plane.controllers._tokens.secrets import bootstrap_token


def test_a_known_signature() -> None:
    # As the API documents it for clients that check it.
    signature = bootstrap.detached_signature("content", "abcdef", "0123456789abcdef")
    header, empty, _ = signature.split(".")
    assert empty == ""
    assert orjson.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "HS256", "kid": "abcdef"}
    assert signature == bootstrap.detached_signature("content", "abcdef", "0123456789abcdef")
    assert signature != bootstrap.detached_signature("content!", "abcdef", "0123456789abcdef")


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        (bootstrap_token("abcdef"), ("abcdef", "0123456789abcdef")),
        (bootstrap_token("abcdef", "2026-06-01T00:00:00Z"), ("abcdef", "0123456789abcdef")),
        (bootstrap_token("abcdef", "2025-06-01T00:00:00Z"), None),
        (bootstrap_token("abcdef", "soon"), None),
        (bootstrap_token("abcdef", usage_bootstrap_signing="false"), None),
        (bootstrap_token("abcdef", token_id="ghijkl"), None),
        ({**bootstrap_token("abcdef"), "metadata": {"name": "mine"}}, None),
    ],
)
def test_which_tokens_sign(secret: Object, expected: tuple[str, str] | None) -> None:
    now = rfc3339.parse("2026-01-01T00:00:00Z")
    assert bootstrap.signing_token(secret, now) == expected


def test_time_left() -> None:
    now = rfc3339.parse("2026-01-01T00:00:00Z")
    assert bootstrap.seconds_left(bootstrap_token("abcdef"), now) == math.inf
    assert bootstrap.seconds_left(bootstrap_token("abcdef", "2026-01-01T00:01:00Z"), now) == 60
