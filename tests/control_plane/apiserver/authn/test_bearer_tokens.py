"""Where a request carries its token, and who is asked about it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authn.authenticator import AuthenticatedToken, InvalidCredentials
from pybernetes.control_plane.apiserver.authn.bearer_tokens import BearerTokens
from pybernetes.control_plane.apiserver.authn.user import ANONYMOUS, User
from tests.control_plane.apiserver.authn.requests import request

ALICE, BOB, CAROL = User("alice"), User("bob"), User("carol")
AUDIENCES = ("api",)


def table(**users: User) -> Any:
    return lambda token, audiences: (
        AuthenticatedToken(users[token.decode()], audiences) if token.decode() in users else None
    )


def refuses(token: bytes, audiences: Any) -> AuthenticatedToken | None:
    if token == b"bad":
        raise InvalidCredentials("this one is bad")
    return None


async def later(token: bytes, audiences: Any) -> AuthenticatedToken | None:
    if token == b"slow-bad":
        raise InvalidCredentials("so is this one")
    return AuthenticatedToken(CAROL, audiences) if token == b"slow" else None


BEARER = BearerTokens((table(a=ALICE, bad=BOB), refuses, later, table(b=BOB)), AUDIENCES)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer a", ALICE),
        ("bearer a", ALICE),
        ("BEARER a", ALICE),
        ("  Bearer a  ", ALICE),
        ("Bearer a more", ALICE),
        ("Bearer ", None),
        ("Bearer", None),
        ("Bearer  a", None),
        ("Basic YTph", None),
        ("a", None),
        ("", None),
    ],
)
def test_headers(header: str, expected: User | None) -> None:
    asked = request(("Authorization", header))
    assert BEARER.authenticate(asked) == expected
    # Nobody behind the gate can use a token that was accepted.
    assert (b"authorization" in asked.headers) is (expected is None)
    assert bool(asked.warnings) is (header == "Bearer  a")


@given(st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=30))
def test_no_header_breaks_it(header: str) -> None:
    asked = request()
    asked.headers[b"authorization"] = header.encode("latin-1")
    bearer = BearerTokens((refuses,), AUDIENCES)
    try:
        assert bearer.authenticate(asked) is None
    except InvalidCredentials:
        pass


async def test_each_is_asked_in_turn() -> None:
    assert BEARER.find(b"bad", AUDIENCES) == AuthenticatedToken(BOB, AUDIENCES)
    for token, user in (("slow", CAROL), ("b", BOB)):
        waiting: Any = BEARER.find(token.encode(), AUDIENCES)
        assert (await waiting).user == user
    for token, problem in (
        ("nope", "invalid bearer token"),
        ("slow-bad", "[invalid bearer token, so is this one]"),
    ):
        waiting = BEARER.find(token.encode(), AUDIENCES)
        with pytest.raises(InvalidCredentials) as refused:
            await waiting
        assert str(refused.value) == problem
    with pytest.raises(InvalidCredentials) as refused:
        BearerTokens((refuses,), AUDIENCES).find(b"bad", AUDIENCES)
    assert str(refused.value) == "[invalid bearer token, this one is bad]"


def protocol(token: bytes) -> str:
    return "base64url.bearer.authorization.k8s.io." + base64.urlsafe_b64encode(token).decode().rstrip("=")


SOCKET = (("Upgrade", "WebSocket"), ("Connection", "keep-alive, Upgrade"))


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        ([f"v5.channel.k8s.io, {protocol(b'a')}"], ALICE),
        ([protocol(b"a"), "v5.channel.k8s.io"], ALICE),
        (["v5.channel.k8s.io"], None),
        ([protocol(b"a")], "missing additional subprotocol"),
        ([f"x, {protocol(b'a')}, {protocol(b'b')}"], "multiple base64.bearer.authorization tokens specified"),
        (
            ["x, base64url.bearer.authorization.k8s.io.!!"],
            "invalid base64.bearer.authorization token encoding",
        ),
        ([f"x, {protocol(bytes([255]))}"], "invalid base64.bearer.authorization token encoding"),
    ],
)
def test_browsers_hide_tokens_among_protocols(offered: list[str], expected: User | str | None) -> None:
    asked = request(*SOCKET, *(("Sec-WebSocket-Protocol", item) for item in offered))
    if isinstance(expected, str):
        with pytest.raises(InvalidCredentials, match=expected):
            BEARER.authenticate(asked)
        return
    assert BEARER.authenticate(asked) == expected
    assert b"bearer" not in asked.headers[b"sec-websocket-protocol"] or expected is None


def test_protocols_of_other_requests_are_not_looked_at() -> None:
    assert BEARER.authenticate(request(("Sec-WebSocket-Protocol", f"x, {protocol(b'a')}"))) is None


# -- the whole chain ------------------------------------------------------------------------------------------------


def refuse(asked: Any) -> User | None:
    raise InvalidCredentials("not you")


async def slowly(asked: Any) -> User | None:
    return CAROL if b"x-slow" in asked.headers else None


@pytest.mark.parametrize("anonymous", [True, False])
async def test_the_first_who_knows_decides(anonymous: bool) -> None:
    async def who(*headers: tuple[str, str], methods: Any = ()) -> User | int:
        asked = request(*headers)
        try:
            waiting = Authentication(methods, BEARER, anonymous=anonymous).authenticate(asked)
            if waiting is not None:
                await waiting
        except StatusError as error:
            assert asked.user is None and error.message == "Unauthorized"
            return error.code
        return asked.user

    nobody = ANONYMOUS if anonymous else 401
    assert await who() == nobody
    assert await who(("Authorization", "Basic x")) == nobody
    assert await who(("Authorization", "Bearer a")) == ALICE
    assert await who(("Authorization", "Bearer nope")) == 401
    # Bad credentials of one kind do not matter if others are good; if none are, nobody is anonymous.
    assert await who(("Authorization", "Bearer a"), methods=(refuse,)) == ALICE
    assert await who(methods=(refuse,)) == 401
    assert await who(("X-Slow", "1"), methods=(slowly,)) == CAROL
    assert await who(("X-Slow", "1"), methods=(refuse, slowly)) == CAROL
    assert await who(("Authorization", "Bearer slow"), methods=(slowly,)) == CAROL
    assert await who(("Authorization", "Bearer slow-bad"), methods=(slowly,)) == 401
    assert await who(methods=(slowly,)) == nobody


def test_callers_in_the_process_are_vouched_for() -> None:
    asked = request(("Authorization", "Bearer nope"))
    asked.user = ALICE
    assert Authentication((), BEARER).authenticate(asked) is None and asked.user is ALICE
