"""A candidate of coordinated leader election: says that it is there, and answers when the API server asks."""

from __future__ import annotations

import logging

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, Conflict, NotFound, StatusError
from pybernetes.client.refs import LEASE_CANDIDATES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.runtime.election import Election

log = logging.getLogger(__name__)
_RETRY_SECONDS = 5.0
_STRATEGY = "OldestEmulationVersion"


def asked(candidate: Object) -> bool:
    """Return whether the API server waits for an answer."""
    spec = candidate.get("spec") or {}
    ping, renewed = spec.get("pingTime"), spec.get("renewTime")
    if not ping:
        return False
    return not renewed or rfc3339.parse(renewed) < rfc3339.parse(ping)


class Candidate:
    """This process among those that would hold a lease."""

    def __init__(self, client: Client, election: Election, identity: str, clock: Clock) -> None:
        self._client, self._election, self._identity, self._clock = client, election, identity, clock

    async def run(self) -> None:
        """Stand as a candidate until cancelled; the object stays, and no longer counts when nobody answers for it."""
        while True:
            try:
                await self._renew(None)
                await self._follow()
            except (StatusError, OSError) as error:
                log.warning("%s: no candidate for now: %s", self._election.name, error)
            await self._clock.sleep(_RETRY_SECONDS)

    async def _follow(self) -> None:
        name, namespace = self._identity, self._election.namespace
        page = await self._client.list_page(LEASE_CANDIDATES, namespace, fields=f"metadata.name={name}")
        for candidate in page.items:
            if asked(candidate):
                await self._renew(candidate)
        async with self._client.watch(
            LEASE_CANDIDATES,
            namespace,
            fields=f"metadata.name={name}",
            resource_version=page.resource_version,
        ) as events:
            async for event in events:
                if event.type == "DELETED":
                    await self._renew(None)
                elif event.type in ("ADDED", "MODIFIED") and asked(event.object):
                    await self._renew(event.object)

    async def _renew(self, candidate: Object | None) -> None:
        """Write that this process is there: into the candidate that was seen, or whatever is there."""
        now = rfc3339.micro(self._clock.now())
        try:
            if candidate is None:
                candidate = await self._client.get(LEASE_CANDIDATES, self._identity, self._election.namespace)
            new = {**candidate, "spec": {**candidate.get("spec", {}), "renewTime": now}}
            await self._client.update(LEASE_CANDIDATES, new)
        except NotFound:
            try:
                await self._client.create(LEASE_CANDIDATES, self._object(now))
            except AlreadyExists:
                pass
        except Conflict:
            pass  # asked once more meanwhile: that is seen next

    def _object(self, now: str) -> Object:
        version = KUBERNETES_VERSION.lstrip("v")
        return {
            "metadata": {"name": self._identity, "namespace": self._election.namespace},
            "spec": {
                "leaseName": self._election.name, "binaryVersion": version, "emulationVersion": version,
                "strategy": _STRATEGY, "renewTime": now,
            },
        }  # fmt: skip
