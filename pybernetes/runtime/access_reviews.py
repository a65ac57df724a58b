"""Asks the API server who a caller is and what it may do; answers are kept for a while."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from pybernetes.lib.clock import Clock
from pybernetes.lib.memory.expiring_cache import ExpiringCache
from pybernetes.lib.tls import certificate_subject

ANONYMOUS: Object = {"username": "system:anonymous", "groups": ["system:unauthenticated"]}
# Of what is remembered: anybody may ask, with a token that is as long as the head of a request may be.
_MOST_BYTES = 1 << 20


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
        self._users: ExpiringCache[Object | None] = ExpiringCache(_MOST_BYTES, clock.monotonic)
        self._verdicts: ExpiringCache[bool] = ExpiringCache(_MOST_BYTES, clock.monotonic)

    async def user(self, token: str) -> Object | None:
        """Return whose token it is; None if it is nobody's."""
        key = _digest(token)
        kept = self._users.get(key)
        if kept is not None:
            return kept[0]
        review = await self._client.create(TOKEN_REVIEWS, {"metadata": {}, "spec": {"token": token}})
        status = review.get("status", {})
        user = status["user"] if status.get("authenticated") else None
        self._users.put(key, user, len(repr(user)), self._token_seconds)
        return user

    async def allows(self, user: Object, attributes: Mapping[str, Object]) -> bool:
        """Return whether a user may do what ``resourceAttributes`` or ``nonResourceAttributes`` say."""
        key = _digest(repr((user, attributes)))
        kept = self._verdicts.get(key)
        if kept is not None:
            return kept[0]
        spec = {"user": user["username"], "groups": user.get("groups", []), **attributes}
        spec |= {name: user[name] for name in ("uid", "extra") if user.get(name)}
        review = await self._client.create(SUBJECT_ACCESS_REVIEWS, {"metadata": {}, "spec": spec})
        allowed = bool(review.get("status", {}).get("allowed"))
        self._verdicts.put(key, allowed, 0, self._allowed_seconds if allowed else self._denied_seconds)
        return allowed


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()


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
