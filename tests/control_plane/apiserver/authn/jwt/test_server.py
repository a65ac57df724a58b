"""API servers that believe an OpenID provider: flags, the file, keys that change, and answers that make no sense."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jwt
import pytest
import yaml

from tests.control_plane.apiserver.authn.jwt.openid_provider import OpenIdProvider, providing
from tests.control_plane.apiserver.test_config_reloads import failed_reloads
from tests.servers import Server, running
from tests.support import until

pytestmark = pytest.mark.slow
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}


def who(server: Server, token: str) -> Any:
    """Return whom the server takes the bearer of a token for; the status if for nobody."""
    status, answer = server.call("POST", WHO, REVIEW, token=token)
    return answer["status"]["userInfo"] if status == 201 else status


def forged(provider: OpenIdProvider) -> list[str]:
    """Return tokens that nobody may believe."""
    head, body, signature = provider.token().split(".")
    plain = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT"}).encode()).rstrip(b"=").decode()
    public = provider.document("/keys")["keys"][0]["n"]  # a public key is no secret to sign with
    return [
        f"{plain}.{body}.",
        f"{head}.{body}.{signature[:-4]}AAAA",
        jwt.encode(
            {"iss": provider.url, "aud": "kubernetes", "sub": "x", "exp": time.time() + 60},
            public,
            "HS256",
            headers={"kid": provider.name},
        ),
        provider.token(aud="other"),
        provider.token(exp=int(time.time()) - 10),
        provider.token(nbf=int(time.time()) + 1000),
        provider.token(iss="https://elsewhere"),
        provider.token(sub=None),
    ]


def test_flags_and_keys_that_change(tmp_path: Path) -> None:
    with providing(tmp_path) as provider:
        flags = [
            f"--oidc-issuer-url={provider.url}", "--oidc-client-id=kubernetes", f"--oidc-ca-file={provider.authority}",
            "--oidc-groups-claim=groups", "--oidc-groups-prefix=oidc:", "--oidc-required-claim=hd=example.com",
            "--oidc-signing-algs=RS256,ES256",
        ]  # fmt: skip
        with running(tmp_path, "--storage-backend=memory", *flags) as server:
            user = who(server, provider.token(groups=["a", "b"], hd="example.com"))
            assert user["username"] == f"{provider.url}#jane"
            assert user["groups"] == ["oidc:a", "oidc:b", "system:authenticated"]
            assert who(server, provider.token()) == 401, "the claim that must be there is not"
            calls = len(provider.calls)
            assert who(server, provider.token(hd="example.com"))["username"].endswith("#jane")
            assert len(provider.calls) == calls, "the keys are known"
            for token in forged(provider):
                assert who(server, token) == 401, token
            old = provider.token(hd="example.com")
            provider.rotate("second", elliptic=True)
            until(lambda: who(server, provider.token(hd="example.com")) != 401)
            assert who(server, old) == 401, "the key of before is not there any more"
            text = server.call("GET", "/metrics")[1]
            assert (
                'apiserver_authentication_jwt_authenticator_latency_seconds_count{jwt_issuer_hash="sha256:'
                in text
            )


def write(path: Path, *providers: OpenIdProvider, **more: Any) -> None:
    """Write a configuration that believes providers."""
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "jwt": [believed(provider) for provider in providers],
    }
    path.write_text(yaml.safe_dump({**document, **more}))


def believed(provider: OpenIdProvider) -> dict[str, Any]:
    """Return what says that a provider is believed."""
    issuer = {"url": provider.url, "audiences": ["kubernetes", "other"], "audienceMatchPolicy": "MatchAny",
              "certificateAuthority": provider.authority.read_text()}  # fmt: skip
    mappings = {
        "username": {"expression": "'oidc:' + claims.sub"},
        "groups": {"claim": "groups", "prefix": ""},
    }
    rules = [{"expression": "!user.username.startsWith('system:')", "message": "reserved"}]
    return {"issuer": issuer, "claimMappings": mappings, "userValidationRules": rules}


def test_the_file_its_reload_and_anonymous_paths(tmp_path: Path) -> None:
    path = tmp_path / "authentication.yaml"
    anonymous = {"enabled": True, "conditions": [{"path": "/livez"}, {"path": "/readyz"}]}
    with providing(tmp_path) as provider:
        write(path, provider, anonymous=anonymous)
        with running(tmp_path, "--storage-backend=memory", f"--authentication-config={path}") as server:
            assert who(server, provider.token(aud="other"))["username"] == "oidc:jane"
            assert server.call("GET", "/livez", token="")[0] == 200
            assert server.call("GET", "/healthz", token="")[0] == 401, "only some paths are anybody's"
            path.write_text("kind: nonsense")
            until(lambda: failed_reloads(server, "authentication"))
            assert who(server, provider.token())["username"] == "oidc:jane"
            write(path, provider, jwt=[], anonymous=anonymous)
            until(lambda: who(server, provider.token()) == 401)


def test_answers_that_make_no_sense(tmp_path: Path) -> None:
    """Providers that answer nonsense are believed as soon as they answer sense; the others are, all the time."""
    path = tmp_path / "authentication.yaml"
    answers = [b"[" * 2_000_000, b"{}", b"\x00nonsense", b'{"keys": 1}', None]
    with ExitStack() as stack:
        providers = []
        for index, answer in enumerate(answers):
            (folder := tmp_path / str(index)).mkdir()
            providers.append(stack.enter_context(providing(folder)))
            providers[-1].spoilt = answer
        write(path, *providers)
        flags = ["--storage-backend=memory", f"--authentication-config={path}"]
        server = stack.enter_context(running(tmp_path, *flags))
        *spoilt, good = providers
        until(lambda: who(server, good.token()) != 401)
        for provider in spoilt:
            assert who(server, provider.token()) == 401
        assert server.call("GET", "/readyz")[0] == 200
        for provider in spoilt:
            provider.spoilt = None
        for provider in spoilt:
            until(lambda provider=provider: who(server, provider.token()) != 401)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["--oidc-issuer-url=https://x"], "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"),
        (["--oidc-issuer-url=http://x", "--oidc-client-id=a"], 'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'),
        (["--oidc-issuer-url=https://x", "--oidc-client-id=a", "--oidc-signing-algs=none"], 'oidc: unsupported signing alg: "none"'),
        (["--oidc-issuer-url=https://x", "--authentication-config=/x"], "authentication-config file and oidc-* flags are mutually exclusive"),
        (["--authentication-config=/nowhere"], 'failed to load authentication configuration from file "/nowhere": open /nowhere: no such file or directory'),
    ],
)  # fmt: skip
def test_what_is_wrong_stops_the_start(tmp_path: Path, flags: list[str], text: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pybernetes.cmd.main",
        "kube-apiserver",
        f"--cert-dir={tmp_path / 'certs'}",
        *flags,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and text in done.stderr and not list(tmp_path.iterdir())
