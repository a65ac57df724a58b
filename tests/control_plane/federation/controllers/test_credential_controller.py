from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from pybernetes.control_plane.federation.controllers.credential_controller import Claims, claims, due


def token(value: Any) -> str:
    return f"head.{base64.urlsafe_b64encode(orjson.dumps(value)).decode().rstrip('=')}.signature"


def test_what_a_token_says_of_itself() -> None:
    found = claims(token({"sub": "system:serviceaccount:ns:name", "iat": 1000, "exp": 4000}))
    assert found == Claims("ns", "name", 1000, 4000)
    assert due(found, 1000) == 1000 and due(found, 2500) == -500


@pytest.mark.parametrize(
    "text",
    [
        "", "opaque", "a.b.c", token([]), token({"sub": "system:serviceaccount:ns:name"}), token({"sub": 5, "iat": 1, "exp": 2}),
        token({"sub": "alice", "iat": 1, "exp": 2}), token({"sub": "system:serviceaccount:ns:name", "iat": 5, "exp": 2}),
    ],
)  # fmt: skip
def test_other_tokens_are_left_alone(text: str) -> None:
    assert claims(text) is None
