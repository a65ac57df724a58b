"""Asks the API server who a caller is and whether it may look: how components guard their own pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from pybernetes.lib.clock import Clock
from pybernetes.lib.serving_certificates import CABundle
from pybernetes.runtime.component_server import Asked, Page

ALWAYS_ALLOWED = ("/healthz", "/readyz", "/livez")
_KEPT_SECONDS = 10.0
_ANONYMOUS = {"username": "system:anonymous", "groups": ["system:unauthenticated"]}


@dataclass(frozen=True)
class FrontProxy:
    """Proxies that may say in headers whom they speak for: who vouches for them, their names, their headers."""

    authorities: CABundle
    names: Sequence[str] = ()
    user_headers: Sequence[str] = ("x-remote-user",)
    uid_headers: Sequence[str] = ()
    group_headers: Sequence[str] = ("x-remote-group",)
    extra_prefixes: Sequence[str] = ("x-remote-extra-",)


class DelegatedAuth:
    """A gate for ``serving.HttpServer``: TokenReview for bearer tokens, SubjectAccessReview for everything.

    Certificates count if ``clients`` vouch for them, or if TLS verified them and nothing else was said.
    """

    def __init__(
        self,
        client: Client,
        *,
        allowed: Sequence[str] = ALWAYS_ALLOWED,
        clock: Clock | None = None,
        clients: CABundle | None = None,
        proxy: FrontProxy | None = None,
    ) -> None:
        self._client = client
        self._allowed = tuple(allowed)
        self._clients, self._proxy = clients, proxy
        self._clock = clock or Clock()
        self._kept: dict[Any, tuple[float, Any]] = {}

    async def __call__(self, asked: Asked) -> Page | None:
        """None if the caller may look, or the refusal."""
        if any(asked.path == path or asked.path.startswith(f"{path}/") for path in self._allowed):
            return None
        try:
            user = await self._user(asked)
            if user is None:
                return Page(b"Unauthorized\n", 401)
            if await self._allows(user, asked.path):
                return None
        except (StatusError, OSError) as error:
            return Page(f"the API server cannot be asked: {error}\n".encode(), 500)
        text = f'forbidden: User "{user["username"]}" cannot get path "{asked.path}"\n'
        return Page(text.encode(), 403)

    async def _user(self, asked: Asked) -> dict[str, Any] | None:
        if asked.certificate:  # TLS has verified it, for one of the authorities
            names: dict[str, list[str]] = {}
            for part in asked.certificate.get("subject", ()):
                for key, value in part:
                    names.setdefault(key, []).append(value)
            name = names.get("commonName", [""])[-1]
            spoken_for = self._spoken_for(asked, name)
            if spoken_for is not None:
                return spoken_for
            if name and self._vouched_for(asked):
                groups = [*names.get("organizationName", ()), "system:authenticated"]
                return {"username": name, "groups": groups}
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None if scheme or asked.certificate else _ANONYMOUS
        found = self._remembered(("token", token))
        if found is None:
            review = {"metadata": {}, "spec": {"token": token.strip()}}
            status = (await self._client.create(TOKEN_REVIEWS, review)).get("status", {})
            found = (status["user"],) if status.get("authenticated") else (None,)
            self._remember(("token", token), found)
        return found[0]

    def _vouched_for(self, asked: Asked) -> bool:
        if self._clients is None:
            return self._proxy is None
        return not asked.chain.isdisjoint(self._clients.fingerprints)

    def _spoken_for(self, asked: Asked, name: str) -> dict[str, Any] | None:
        """Whom a front proxy names, if this is one."""
        proxy = self._proxy
        if proxy is None or asked.chain.isdisjoint(proxy.authorities.fingerprints):
            return None
        if proxy.names and name not in proxy.names:
            return None
        user = _first(asked, proxy.user_headers)
        if not user:
            return None
        groups = [
            value
            for header in proxy.group_headers
            for value in asked.repeated.get(header.lower(), ())
            if value
        ]
        extra: dict[str, list[str]] = {}
        for header, values in asked.repeated.items():
            for prefix in proxy.extra_prefixes:
                if header.startswith(prefix.lower()):
                    extra.setdefault(unquote(header[len(prefix) :]), []).extend(values)
        found = {"username": user, "uid": _first(asked, proxy.uid_headers), "groups": groups, "extra": extra}
        if user != _ANONYMOUS["username"] and "system:authenticated" not in groups:
            groups.append("system:authenticated")
        return {key: value for key, value in found.items() if value}

    async def _allows(self, user: dict[str, Any], path: str) -> bool:
        key = ("path", repr(user), path)
        found = self._remembered(key)
        if found is None:
            spec = {
                "user": user["username"],
                "groups": user.get("groups", []),
                "nonResourceAttributes": {"path": path, "verb": "get"},
            }
            spec |= {key: user[key] for key in ("uid", "extra") if user.get(key)}
            review = await self._client.create(SUBJECT_ACCESS_REVIEWS, {"metadata": {}, "spec": spec})
            found = (bool(review.get("status", {}).get("allowed")),)
            self._remember(key, found)
        return found[0]

    def _remembered(self, key: Any) -> Any:
        kept = self._kept.get(key)
        return kept[1] if kept is not None and kept[0] > self._clock.monotonic() else None

    def _remember(self, key: Any, value: Any) -> None:
        if len(self._kept) > 1000:
            self._kept.clear()
        self._kept[key] = (self._clock.monotonic() + _KEPT_SECONDS, value)


def _first(asked: Asked, headers: Sequence[str]) -> str:
    return next((asked.headers[name.lower()] for name in headers if asked.headers.get(name.lower())), "")
