"""Tokens of an OpenID provider: used while they last, made anew and kept after that."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from pybernetes.tools.kubectl.command_line.flags import declare, parse
from pybernetes.tools.kubectl.command_line.shared_flags import GLOBAL
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kubeconfig.auth_provider import check, expires, token

FOR_EVER = 1 << 40


def jwt(**claims: Any) -> str:
    middle = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{middle}.sig"


class Provider:
    """An OpenID provider that wants the client's name in one of two ways."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, list[str]]]] = []
        self.endpoint, self.wants_form, self.answer = "", False, {"id_token": jwt(exp=FOR_EVER)}
        self.location = ""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def reply(self, code: int, value: Any) -> None:
                raw = json.dumps(value).encode()
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", provider.location)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def do_GET(self) -> None:
                provider.asked.append((self.path, self.headers.get("Authorization", ""), {}))
                self.reply(200, {"token_endpoint": provider.endpoint})

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                provider.asked.append((self.path, self.headers.get("Authorization", ""), form))
                if provider.location:
                    self.reply(302, {})
                elif provider.wants_form and "client_id" not in form:
                    self.reply(401, {"error": "invalid_client"})
                else:
                    self.reply(200, provider.answer)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.endpoint = f"{self.issuer}/token"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    def settings(self, **more: str) -> dict[str, str]:
        return {"idp-issuer-url": self.issuer, "client-id": "me", "client-secret": "s", **more}


def never(settings: dict[str, str]) -> None:
    pytest.fail(f"nothing is to be kept, not {settings}")


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    made.thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.thread.join()


def test_a_token_that_lasts_is_used(provider: Provider) -> None:
    current = jwt(exp=FOR_EVER)
    assert token(provider.settings(**{"id-token": current}), never) == current
    assert provider.asked == []


@pytest.mark.parametrize("wants_form", [False, True])
def test_another_is_made_and_kept(provider: Provider, wants_form: bool) -> None:
    kept: list[dict[str, str]] = []
    provider.wants_form = wants_form
    provider.answer["refresh_token"] = "next"
    old = provider.settings(**{"id-token": jwt(exp=1), "refresh-token": "first"})
    new = token(old, kept.append)
    assert new == provider.answer["id_token"]
    assert kept == [{**old, "id-token": new, "refresh-token": "next"}]
    form = {"grant_type": ["refresh_token"], "refresh_token": ["first"]}
    basic = f"Basic {base64.b64encode(b'me:s').decode()}"
    expected = [("/.well-known/openid-configuration", "", {}), ("/token", basic, form)]
    if wants_form:
        expected.append(("/token", "", {**form, "client_id": ["me"], "client_secret": ["s"]}))
    assert provider.asked == expected


def test_secrets_stay_where_they_belong(provider: Provider) -> None:
    provider.location = f"{provider.issuer}/elsewhere"
    with pytest.raises(CommandError, match=r"failed to refresh token.*302"):
        token(provider.settings(**{"refresh-token": "r"}), never)
    assert [path for path, _, _ in provider.asked] == [
        "/.well-known/openid-configuration",
        "/token",
        "/token",
    ]
    provider.endpoint = "file:///etc/passwd"
    with pytest.raises(CommandError, match="secrets are not sent"):
        token(provider.settings(**{"refresh-token": "r"}), never)


@pytest.mark.parametrize(
    ("answer", "message"),
    [({}, "did not contain an id_token"), ([], "something else than a JSON object"), ({"id_token": 1}, "did not contain")],
)  # fmt: skip
def test_answers_that_are_none(provider: Provider, answer: Any, message: str) -> None:
    provider.answer = answer
    with pytest.raises(CommandError, match=message):
        token(provider.settings(**{"refresh-token": "r"}), never)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a.b", "not a valid JWT"), ("a.e30!.c", "parsing claims"), (f"a.{'W10'}.c", "parsing claims"),
     (jwt(exp="x"), "parsing claims")],
)  # fmt: skip
def test_what_is_no_token(text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        expires(text)
    assert expires(jwt()) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "is no map"),
        ({"name": "gcp"}, "The gcp auth plugin has been removed"),
        ({"name": "azure"}, "The azure auth plugin has been removed"),
        ({"name": "x"}, 'no Auth Provider found for name "x"'),
        ({"name": "oidc"}, "Must provide idp-issuer-url"),
        ({"name": "oidc", "config": {"idp-issuer-url": "x"}}, "Must provide client-id"),
        ({"name": "oidc", "config": {"client-id": 1}}, "something else than texts"),
    ],
)
def test_providers_that_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        check(settings)


def test_the_kubeconfig_gets_the_new_token(provider: Provider, tmp_path: Path) -> None:
    user = {"auth-provider": {"name": "oidc", "config": provider.settings(**{"refresh-token": "r"})}}
    path = tmp_path / "config"
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "other", "user": {"token": "t"}}, {"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(json.dumps(config))
    context = Context(parse(["--kubeconfig", str(path)], declare(GLOBAL)), environment={})
    new = provider.answer["id_token"]
    assert context.client.headers({})["Authorization"] == f"Bearer {new}"
    assert context.client.headers({})["Authorization"] == f"Bearer {new}"
    assert len(provider.asked) == 2
    assert f"id-token: {new}" in path.read_text() and "token: t\n" in path.read_text()
