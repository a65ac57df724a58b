from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.tokens.token_claims import token_claims


def token(claims: bytes) -> str:
    return f"e30.{base64.urlsafe_b64encode(claims).rstrip(b'=').decode()}.c2lnbg"


@pytest.mark.parametrize("text", [b"{}", b'{"a":1}', b'{"sub":"me","exp":12}', b'{"a":"\xc3\xa9"}'])
def test_claims_are_read_with_any_padding(text: bytes) -> None:
    assert token_claims(token(text)) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "..",
        "a.b",
        "a.e30.b.c",
        token(b"[]"),
        token(b"1"),
        token(b'{"a":'),
        token(b"\xff"),
        "a.é.b",
        "a.e.b",
    ],
)
def test_what_is_no_token(text: str) -> None:
    with pytest.raises(ValueError):
        token_claims(text)


@given(st.one_of(st.text(), st.text(alphabet="ey.0-_=", max_size=40), st.binary().map(token)))
def test_anything_may_be_given_as_a_token(text: str) -> None:
    try:
        assert isinstance(token_claims(text), dict)
    except ValueError:
        pass
