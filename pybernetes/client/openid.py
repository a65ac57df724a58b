"""Log-in at an OpenID provider by authorization code, and the ID token that comes of it as credentials.

The token's signature is not looked at here: it comes from the provider itself over TLS, and the API server checks it with
every request. What a provider answers is input like any other: bounded in size and time.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import orjson

from pybernetes.client.credentials import Authority, Credentials, Headers, bearer
from pybernetes.client.errors import NotSent
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import fetch, located
from pybernetes.lib.tokens.token_claims import token_claims

_SECONDS = 10.0
_MOST_BYTES = 1 << 20
_LONGEST_TOKEN = 16 << 10
_EARLY_SECONDS = 30.0  # that a token is renewed before it expires: clocks differ


class OpenIdError(NotSent):
    """The provider cannot be asked, or does not say what was asked for."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the provider gave: the ID token, when it expires, and what gets another one (empty: nothing does)."""

    id_token: str
    expires: float
    refresh_token: str = ""


class OpenIdProvider:
    """A provider, and this client at it; without a secret it is one of those that cannot keep any (with PKCE all the same)."""

    def __init__(
        self, issuer: str, client_id: str, client_secret: str = "", scopes: tuple[str, ...] = (),
        context: ssl.SSLContext | None = None,
    ) -> None:  # fmt: skip
        if urlsplit(issuer).scheme != "https" or not urlsplit(issuer).hostname:
            raise ValueError(f"the issuer {issuer} is not an https address")
        self.issuer, self._client_id, self._client_secret = issuer, client_id, client_secret
        self._scopes = tuple(dict.fromkeys(("openid", *scopes)))
        self._context = context or ssl.create_default_context()
        self._about: dict[str, Any] = {}

    async def address(self, redirect: str, state: str, nonce: str, verifier: str) -> str:
        """Return where a browser is sent to log in."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code", "client_id": self._client_id, "redirect_uri": redirect, "scope": " ".join(self._scopes),
            "state": state, "nonce": nonce, "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        address = await self._endpoint("authorization_endpoint")
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"

    async def redeem(self, code: str, redirect: str, nonce: str, verifier: str) -> Tokens:
        """Return the tokens for a code; OpenIdError if it is not good, or not for this attempt."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        tokens = await self._tokens(form)
        claims = _claims(tokens.id_token)
        if claims.get("nonce") != nonce:
            raise OpenIdError("the provider's token is of another log-in")
        audience = claims.get("aud")
        if self._client_id not in (audience if isinstance(audience, list) else [audience]):
            raise OpenIdError("the provider's token is for another client")
        return tokens

    async def renew(self, tokens: Tokens) -> Tokens:
        """Return new tokens for those that expire."""
        if not tokens.refresh_token:
            raise OpenIdError("the log-in has expired: log in again")
        new = await self._tokens({"grant_type": "refresh_token", "refresh_token": tokens.refresh_token})
        return Tokens(new.id_token, new.expires, new.refresh_token or tokens.refresh_token)

    async def _tokens(self, form: dict[str, str]) -> Tokens:
        headers = {"Accept": "application/json"}
        about = await self._discovered()
        methods = about.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if self._client_secret and "client_secret_basic" in methods:
            pair = f"{quote_plus(self._client_id)}:{quote_plus(self._client_secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": self._client_id}
            form |= {"client_secret": self._client_secret} if self._client_secret else {}
        answer = await self._object(await self._endpoint("token_endpoint"), headers, urlencode(form).encode())
        token, refresh = answer.get("id_token"), answer.get("refresh_token", "")
        if not isinstance(token, str) or not token.isascii() or len(token) > _LONGEST_TOKEN:
            raise OpenIdError("the provider gave no ID token")
        expires = _claims(token).get("exp")
        if not isinstance(expires, int | float):
            raise OpenIdError("the provider's token does not say when it expires")
        return Tokens(token, float(expires), refresh if isinstance(refresh, str) else "")

    async def _endpoint(self, name: str) -> str:
        address = (await self._discovered()).get(name)
        if not isinstance(address, str) or not address.startswith("https://"):
            raise OpenIdError(f"the provider has no {name} with https")
        return address

    async def _discovered(self) -> dict[str, Any]:
        if not self._about:
            address = f"{self.issuer.removesuffix('/')}/.well-known/openid-configuration"
            about = await self._object(address, {"Accept": "application/json"})
            if about.get("issuer") != self.issuer:
                raise OpenIdError("the provider says that it is another issuer")
            self._about = about
        return self._about

    async def _object(self, address: str, headers: Mapping[str, str], form: bytes = b"") -> dict[str, Any]:
        """Return the JSON object that an address answers with: to a form, if there is one."""
        client = HttpClient(most_bytes=_MOST_BYTES)
        try:
            if form:
                # A code or a secret follows no redirect: it could lead to somebody else.
                headers = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
                peer, path = located(address, self._context)
                reply = await client.send(peer, "POST", path, form, headers, _SECONDS)
            else:
                reply = await fetch(client, address, headers, _SECONDS, self._context)
        except (RequestFailed, OSError, ValueError) as error:
            raise OpenIdError(f"the provider cannot be asked: {error}") from None
        finally:
            client.close()
        if reply.status != 200:
            raise OpenIdError(f"the provider refuses: {_refusal(reply.body[:4096])} ({reply.status})")
        try:
            value = orjson.loads(reply.body)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise OpenIdError("the provider answers with something else than a JSON object")
        return value


def _refusal(body: bytes) -> str:
    """Return why a provider refuses, as the standard has it; nothing of what else it may say."""
    try:
        reason = orjson.loads(body).get("error")
    except (ValueError, AttributeError):
        reason = None
    return reason[:80] if isinstance(reason, str) and reason.isprintable() else "no reason"


def _claims(token: str) -> dict[str, Any]:
    """Return what a token claims; OpenIdError if it is none."""
    try:
        return token_claims(token)
    except ValueError:
        raise OpenIdError("the provider's ID token is not one") from None


class OpenIdToken(Credentials):
    """An ID token, renewed before it expires; usable from several event loops."""

    def __init__(
        self, trust: Authority, provider: OpenIdProvider, tokens: Tokens, clock: Clock | None = None
    ) -> None:
        super().__init__(trust)
        self._provider, self._tokens, self._clock = provider, tokens, clock or Clock()
        self._lock = threading.Lock()

    async def headers(self) -> Headers:
        """Return the token; another one if it is about to expire."""
        if self._expires_soon():
            await asyncio.to_thread(self._renew)
        return bearer(self._tokens.id_token)

    def _expires_soon(self) -> bool:
        return self._clock.now() >= self._tokens.expires - _EARLY_SECONDS

    def _renew(self) -> None:
        with self._lock:
            # Many requests may need it at once, on several event loops: the first gets it for all of them.
            if self._expires_soon():
                self._tokens = asyncio.run(self._provider.renew(self._tokens))
