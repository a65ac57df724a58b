"""Asks the API server who a caller is and whether it may look: how components guard their own pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from pybernetes.lib.clock import Clock
from pybernetes.runtime.serving import Asked, Page

ALWAYS_ALLOWED = ("/healthz", "/readyz", "/livez")
_KEPT_SECONDS = 10.0
_ANONYMOUS = {"username": "system:anonymous", "groups": ["system:unauthenticated"]}


class Delegation:
    """A gate for ``serving.HttpServer``: TokenReview for bearer tokens, SubjectAccessReview for everything."""

    def __init__(
        self, client: Client, *, allowed: Sequence[str] = ALWAYS_ALLOWED, clock: Clock | None = None
    ) -> None:
        self._client = client
        self._allowed = tuple(allowed)
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
        if asked.certificate:  # TLS has verified it
            names: dict[str, list[str]] = {}
            for part in asked.certificate.get("subject", ()):
                for key, value in part:
                    names.setdefault(key, []).append(value)
            if names.get("commonName"):
                groups = [*names.get("organizationName", ()), "system:authenticated"]
                return {"username": names["commonName"][0], "groups": groups}
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return _ANONYMOUS if not scheme else None
        found = self._remembered(("token", token))
        if found is None:
            review = {"metadata": {}, "spec": {"token": token.strip()}}
            status = (await self._client.create(TOKEN_REVIEWS, review)).get("status", {})
            found = (status["user"],) if status.get("authenticated") else (None,)
            self._remember(("token", token), found)
        return found[0]

    async def _allows(self, user: dict[str, Any], path: str) -> bool:
        key = ("path", user["username"], tuple(user.get("groups", ())), path)
        found = self._remembered(key)
        if found is None:
            spec = {
                "user": user["username"],
                "groups": user.get("groups", []),
                "nonResourceAttributes": {"path": path, "verb": "get"},
            }
            if user.get("uid"):
                spec["uid"] = user["uid"]
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
