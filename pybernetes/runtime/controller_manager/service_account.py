"""An identity for each controller: the token of a service account in kube-system, renewed in time."""

from __future__ import annotations

import asyncio
import logging

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.credentials import Authority, Credentials, bearer
from pybernetes.client.errors import AlreadyExists, NotFound
from pybernetes.client.kubeconfig import Config
from pybernetes.client.refs import SERVICE_ACCOUNTS
from pybernetes.client.transport import Headers
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock

log = logging.getLogger(__name__)
_NAMESPACE = "kube-system"
_LIFETIME = 3607
_REVIEW = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"expirationSeconds": _LIFETIME}}  # fmt: skip


class AccountToken(Credentials):
    """The token of a service account, asked for with the manager's own client."""

    def __init__(self, owner: Client, name: str, trust: Authority, clock: Clock | None = None) -> None:
        super().__init__(trust)
        self._owner, self._name = owner, name
        self._clock = clock or Clock()
        self._headers: Headers = {}
        self._renew_at = 0.0
        self._lock = asyncio.Lock()

    async def headers(self) -> Headers:
        """Return the headers with the token, a new one when most of the old one's time is over."""
        if self._clock.now() >= self._renew_at:
            async with self._lock:
                if self._clock.now() >= self._renew_at:
                    await self._renew()
        return self._headers

    def refused(self) -> bool:
        """Drop a token that is no longer valid, for example because its account was recreated."""
        self._renew_at = 0.0
        return True

    async def _renew(self) -> None:
        try:
            status = (await self._request())["status"]
        except NotFound:
            try:
                await self._owner.create(
                    SERVICE_ACCOUNTS, {"metadata": {"name": self._name, "namespace": _NAMESPACE}}
                )
            except AlreadyExists:
                pass
            status = (await self._request())["status"]
        now = self._clock.now()
        self._headers = bearer(status["token"])
        self._renew_at = now + 0.8 * (rfc3339.parse(status["expirationTimestamp"]) - now)
        log.debug("the service account %s/%s has a token", _NAMESPACE, self._name)

    async def _request(self) -> Object:
        return await self._owner.create(
            SERVICE_ACCOUNTS, _REVIEW, _NAMESPACE, name=self._name, subresource="token"
        )


def client_of(
    owner: Client, config: Config, name: str, *, program: str, clock: Clock | None = None
) -> Client:
    """Return a client over HTTPS that acts as a service account in kube-system."""
    # A certificate would speak louder than the token.
    token = AccountToken(owner, name, config.credentials.trust(), clock)
    own = Config(config.server, token, server_name=config.server_name)
    return own.client(user_agent=f"{program}/{name}")
