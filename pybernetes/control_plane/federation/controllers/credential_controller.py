"""Renews the tokens by which the control plane is known in the members, long before they expire."""

from __future__ import annotations

import asyncio
import base64
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.client.refs import SECRETS, SERVICE_ACCOUNTS
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS
from pybernetes.control_plane.federation.members import access
from pybernetes.control_plane.federation.members.members import Members
from pybernetes.lib.tokens.token_claims import token_claims
from pybernetes.runtime.cache import split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

_SHARE = 1 / 3  # of a token's life after which it is renewed
_SOONEST, _LATEST = 1.0, 3600.0  # seconds between two looks at a token
_SHORTEST = 60.0  # the life of a token that is believed: whoever gives shorter ones is not asked every moment
_ANSWER_SECONDS, _LONGEST_TOKEN = 10.0, 65536
_PREFIX = "system:serviceaccount:"


class Claims(NamedTuple):
    """Whose a token is, and how long."""

    namespace: str
    name: str
    issued: float
    expires: float


def claims(token: str) -> Claims | None:
    """Return what a token says of itself; None if it does not expire, or is no service account's.

    Nothing is believed here but when to ask for another: whether the token is good is the member's to say.
    """
    try:
        value = token_claims(token)
        namespace, _, name = value["sub"].removeprefix(_PREFIX).partition(":")
        issued, expires = float(value["iat"]), float(value["exp"])
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    if not name or expires <= issued:
        return None
    return Claims(namespace, name, issued, expires)


def due(token_claims: Claims, now: float) -> float:
    """Return the seconds until a token is to be renewed."""
    return token_claims.issued + max(_SHORTEST, token_claims.expires - token_claims.issued) * _SHARE - now


class CredentialController(Controller):
    """The loop over KubeFedClusters whose tokens expire."""

    name = "kubefedcluster-credentials"
    kind = KUBEFED_CLUSTERS

    def __init__(self, runtime: Runtime, members: Members, namespace: str) -> None:
        super().__init__(runtime)
        self._members, self._namespace = members, namespace
        self._secrets = self.cache(SECRETS)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Return whether another secret may be meant; how a cluster does is of no interest."""
        if old is None or new is None:
            return True
        return old["metadata"].get("generation") != new["metadata"].get("generation")

    async def reconcile(self, key: str) -> float | None:
        """Renew the token of one cluster, if it is time."""
        cluster = self.objects.get(key)
        member = self._members.get(split_key(key)[1])
        if cluster is None or member is None or member.client is None:
            return None
        name = cluster["spec"]["secretRef"]["name"]
        secret = self._secrets.get(f"{self._namespace}/{name}")
        try:
            token_claims = claims(access.token_of(secret, name))
        except ValueError:
            return None
        if token_claims is None:
            return None
        wait = due(token_claims, self.clock.now())
        if wait > 0 or not member.ready:
            return min(max(wait, _SOONEST), _LATEST)
        request = {"spec": {"expirationSeconds": int(token_claims.expires - token_claims.issued)}}
        async with asyncio.timeout(_ANSWER_SECONDS):
            answer = await member.client.create(
                SERVICE_ACCOUNTS, request, token_claims.namespace, name=token_claims.name, subresource="token"
            )
        token = str(answer["status"]["token"])
        if len(token) > _LONGEST_TOKEN:
            raise ValueError("the cluster's token is too long")
        data = base64.b64encode(token.encode()).decode()
        await self.client.patch(SECRETS, name, {"data": {"token": data}}, self._namespace)
        renewed = claims(token)
        return min(max(due(renewed, self.clock.now()), _SOONEST), _LATEST) if renewed else None
