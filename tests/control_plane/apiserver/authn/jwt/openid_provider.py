"""An OpenID provider for tests: discovery and keys over TLS, tokens by PyJWT, keys that change, answers that make no sense."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from tests.loopback_server import JsonHandler, loopback_server, secure, served


class OpenIdProvider:
    """The provider. ``spoilt`` is what it answers instead, if anything; ``waits`` is what it waits for, if for anything."""

    def __init__(self, directory: Path) -> None:
        self.calls: list[str] = []
        self.spoilt: bytes | None = None
        self.texts: dict[str, str] = {}  # that are at some paths, for those with an access token
        self.waits: threading.Event | None = None
        outer = self

        class Handler(JsonHandler):
            def do_GET(self) -> None:
                outer.calls.append(self.path)
                if outer.waits is not None:
                    outer.waits.wait(60)
                if self.path in outer.texts:
                    known = self.headers["Authorization"] == "Bearer let-me-in"
                    return self.reply(outer.texts[self.path].encode(), 200 if known else 401)
                body = (
                    outer.spoilt
                    if outer.spoilt is not None
                    else json.dumps(outer.document(self.path)).encode()
                )
                self.reply(body)

        self.http = loopback_server(Handler)
        self.authority = secure(self.http, directory, "openid")
        self.url = f"https://127.0.0.1:{self.http.server_address[1]}"
        self.rotate("first")

    def rotate(self, name: str, *, elliptic: bool = False) -> None:
        """Sign with another key, and forget the one before."""
        self.name, self.algorithm = name, "ES256" if elliptic else "RS256"
        self.key: Any = (
            ec.generate_private_key(ec.SECP256R1()) if elliptic else rsa.generate_private_key(65537, 2048)
        )

    def document(self, path: str) -> dict[str, Any]:
        """Return what is at a path."""
        if path == "/keys":
            to_jwk: Any = ECAlgorithm.to_jwk if self.algorithm == "ES256" else RSAAlgorithm.to_jwk
            public = to_jwk(self.key.public_key(), as_dict=True)
            return {"keys": [{**public, "use": "sig", "kid": self.name, "alg": self.algorithm}]}
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}

    def token(self, **claims: Any) -> str:
        """Return a token for the audience ``kubernetes`` with more claims, or others."""
        usual = {"iss": self.url, "aud": "kubernetes", "sub": "jane", "exp": int(time.time()) + 600}
        return jwt.encode({**usual, **claims}, self.key, self.algorithm, headers={"kid": self.name})


@contextmanager
def providing(directory: Path) -> Iterator[OpenIdProvider]:
    """Yield a provider."""
    provider = OpenIdProvider(directory)
    with served(provider.http):
        yield provider
