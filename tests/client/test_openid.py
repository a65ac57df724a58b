"""ID tokens of a provider: got with a code, renewed, and refused when they are not what was asked for."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from pybernetes.client.credentials import Authority
from pybernetes.client.openid import OpenIdError, OpenIdProvider, OpenIdToken, Tokens
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.tls import tls

_VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # of RFC 7636, and what it says of it below


def _jwt(**claims: Any) -> str:
    middle = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{middle}.sig"


class Played:
    """A provider over TLS that answers what a test says: the discovery document by ``about``, the rest by ``answer``."""

    def __init__(self, directory: Path) -> None:
        certificate, key, self.authority = tls.ensure_serving(directory, ["127.0.0.1"], "provider")
        self.asked: list[tuple[str, str, dict[str, list[str]]]] = []
        self.about: dict[str, Any] = {}
        self.status, self.answer, self.location = 200, b"{}", ""
        played = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def _reply(self, status: int, body: bytes) -> None:
                self.send_response(status)
                if played.location and status == 302:
                    self.send_header("Location", played.location)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                played.asked.append((self.path, "", {}))
                self._reply(200, json.dumps(played.about).encode())

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                played.asked.append((self.path, self.headers.get("Authorization", ""), form))
                self._reply(played.status, played.answer)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_port}"
        self.about = {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize?tenant=1", "token_endpoint": f"{self.url}/token",
        }  # fmt: skip
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def client(self, secret: str = "") -> OpenIdProvider:
        return OpenIdProvider(self.url, "me", secret, ("email",), tls.client_context(self.authority))

    def gives(self, **answer: Any) -> None:
        self.answer = json.dumps(answer).encode()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join(60)
        self._server.server_close()


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    played = Played(tmp_path)
    yield played
    played.stop()


async def test_where_a_browser_is_sent(played: Played) -> None:
    address = urlsplit(await played.client().address("http://here/oidc", "the-state", "the-nonce", _VERIFIER))
    assert address.path == "/authorize"
    assert parse_qs(address.query) == {
        "tenant": ["1"], "response_type": ["code"], "client_id": ["me"], "redirect_uri": ["http://here/oidc"],
        "scope": ["openid email"], "state": ["the-state"], "nonce": ["the-nonce"], "code_challenge_method": ["S256"],
        "code_challenge": ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("secret", "methods", "authorization", "more"),
    [
        ("", None, "", {"client_id": ["me"]}),
        ("a b", None, f"Basic {base64.b64encode(b'me:a+b').decode()}", {}),
        ("a b", ["client_secret_post"], "", {"client_id": ["me"], "client_secret": ["a b"]}),
    ],
)
async def test_a_code_is_redeemed(
    played: Played, secret: str, methods: Any, authorization: str, more: dict[str, list[str]]
) -> None:
    if methods:
        played.about["token_endpoint_auth_methods_supported"] = methods
    token = _jwt(nonce="n", aud=["other", "me"], exp=12)
    played.gives(id_token=token, refresh_token="r")
    assert await played.client(secret).redeem("c", "http://here/oidc", "n", "v") == Tokens(token, 12.0, "r")
    form = {
        "grant_type": ["authorization_code"], "code": ["c"], "redirect_uri": ["http://here/oidc"], "code_verifier": ["v"],
    }  # fmt: skip
    assert played.asked[-1] == ("/token", authorization, form | more)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"id_token": _jwt(nonce="other", aud="me", exp=1)}, "of another log-in"),
        ({"id_token": _jwt(aud="me", exp=1)}, "of another log-in"),
        ({"id_token": _jwt(nonce="n", aud="you", exp=1)}, "for another client"),
        ({"id_token": _jwt(nonce="n", aud="me")}, "does not say when it expires"),
        ({"id_token": _jwt(nonce="n", aud="me", exp="soon")}, "does not say when it expires"),
        ({"id_token": "x"}, "is not one"),
        ({"id_token": 5}, "gave no ID token"),
        ({"id_token": "a." + "b" * 20_000 + ".c"}, "gave no ID token"),
        ({}, "gave no ID token"),
        ([], "something else than a JSON object"),
        ("x" * (1 << 20), "cannot be asked"),
    ],
)
async def test_tokens_that_are_not_taken(played: Played, answer: Any, message: str) -> None:
    played.answer = json.dumps(answer).encode()
    with pytest.raises(OpenIdError, match=message):
        await played.client().redeem("c", "r", "n", "v")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, b'{"error": "invalid_grant"}', r"invalid_grant \(400\)"),
        (500, b"\x1b[31mtrace", r"no reason \(500\)"),
        (302, b"", r"no reason \(302\)"),
    ],
)
async def test_what_a_provider_refuses(played: Played, status: int, body: bytes, message: str) -> None:
    played.status, played.answer, played.location = status, body, f"{played.url}/elsewhere"
    with pytest.raises(OpenIdError, match=message):
        await played.client("secret").redeem("c", "r", "n", "v")
    assert all(path != "/elsewhere" for path, _, _ in played.asked)  # a secret does not follow a redirect


@pytest.mark.parametrize(
    "about",
    [
        {"issuer": "https://other"},
        {"token_endpoint": "http://plain/token"},
        {"token_endpoint": None},
        {"token_endpoint": []},
    ],
)
async def test_a_provider_that_is_another_or_would_take_secrets_in_the_open(
    played: Played, about: dict[str, Any]
) -> None:
    played.about |= about
    with pytest.raises(OpenIdError):
        await played.client().redeem("c", "r", "n", "v")


@pytest.mark.parametrize("issuer", ["http://plain", "https://", "ftp://x", ""])
def test_issuers_that_are_refused(issuer: str) -> None:
    with pytest.raises(ValueError, match="is not an https address"):
        OpenIdProvider(issuer, "me")


async def test_a_token_is_renewed_before_it_expires(played: Played) -> None:
    clock = ManualClock()
    first, second = _jwt(exp=clock.now() + 100), _jwt(exp=clock.now() + 1000)
    played.gives(id_token=second)
    tokens = Tokens(first, clock.now() + 100, "refresh")
    credentials = OpenIdToken(Authority(), played.client(), tokens, clock)
    assert await credentials.headers() == {b"authorization": f"Bearer {first}".encode()}
    await clock.advance(71)
    assert await credentials.headers() == {b"authorization": f"Bearer {second}".encode()}
    assert played.asked[-1][2]["refresh_token"] == ["refresh"]
    count = len(played.asked)
    assert await credentials.headers() == {b"authorization": f"Bearer {second}".encode()}
    assert len(played.asked) == count
    over = OpenIdToken(Authority(), played.client(), Tokens(first, 0.0), clock)
    with pytest.raises(OpenIdError, match="log in again"):
        await over.headers()
