"""Asks the API server who a caller is and what it may do; answers are kept for a while."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from pybernetes.lib.clock import Clock
from pybernetes.lib.tls import certificate_subject

ANONYMOUS: Object = {"username": "system:anonymous", "groups": ["system:unauthenticated"]}
_MOST_KEPT = 1000


class AccessReviews:
    """TokenReviews and SubjectAccessReviews, with how many seconds their answers hold."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        *,
        token_seconds: float = 10.0,
        allowed_seconds: float = 10.0,
        denied_seconds: float = 10.0,
    ) -> None:
        self._client, self._clock = client, clock
        self._token_seconds = token_seconds
        self._allowed_seconds, self._denied_seconds = allowed_seconds, denied_seconds
        self._kept: dict[Hashable, tuple[float, Any]] = {}

    async def user(self, token: str) -> Object | None:
        """Return whose token it is; None if it is nobody's."""
        key = ("token", token)
        kept = self._remembered(key)
        if kept is not None:
            return kept[0]
        review = await self._client.create(TOKEN_REVIEWS, {"metadata": {}, "spec": {"token": token}})
        status = review.get("status", {})
        user = status["user"] if status.get("authenticated") else None
        self._remember(key, (user,), self._token_seconds)
        return user

    async def allows(self, user: Object, attributes: Mapping[str, Object]) -> bool:
        """Return whether a user may do what ``resourceAttributes`` or ``nonResourceAttributes`` say."""
        key = ("access", repr(user), repr(attributes))
        kept = self._remembered(key)
        if kept is not None:
            return kept
        spec = {"user": user["username"], "groups": user.get("groups", []), **attributes}
        spec |= {name: user[name] for name in ("uid", "extra") if user.get(name)}
        review = await self._client.create(SUBJECT_ACCESS_REVIEWS, {"metadata": {}, "spec": spec})
        allowed = bool(review.get("status", {}).get("allowed"))
        self._remember(key, allowed, self._allowed_seconds if allowed else self._denied_seconds)
        return allowed

    def _remembered(self, key: Hashable) -> Any:
        kept = self._kept.get(key)
        return kept[1] if kept is not None and kept[0] > self._clock.monotonic() else None

    def _remember(self, key: Hashable, value: Any, seconds: float) -> None:
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = (self._clock.monotonic() + seconds, value)


def certificate_user(certificate: Mapping[str, Any]) -> Object | None:
    """Return the user of a certificate that TLS has verified: its common name, with organizations as groups."""
    subject = certificate_subject.of_peer(certificate)
    if not subject.common_name or len(subject.uids) > 1 or "" in subject.uids:
        return None
    groups = [*subject.organizations, "system:authenticated"]
    user: Object = {"username": subject.common_name, "groups": groups}
    return user | {"uid": subject.uids[0]} if subject.uids else user


def bearer_token(header: str) -> str | None:
    """Return the token of an Authorization header, None if it holds something else."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
