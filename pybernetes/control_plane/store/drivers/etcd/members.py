"""The members of an etcd cluster: listed, added as learners, promoted, removed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient, Rejected
from pybernetes.control_plane.store.protocol import StoreError, Unavailable

_PROMOTE_DELAY = 0.2


@dataclass(frozen=True, slots=True)
class Member:
    """One member; its name is empty until it has started."""

    identity: int
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...]
    learner: bool


class Members:
    """The members of the cluster that a client talks to."""

    def __init__(self, client: EtcdClient, seconds: float = 60.0) -> None:
        self._client, self._seconds = client, seconds

    async def listed(self) -> list[Member]:
        """Return all members."""
        answer, _ = await self._client.call(
            lambda endpoint: endpoint.cluster.MemberList, rpc.MemberListRequest(), timeout=self._seconds
        )
        return [
            Member(entry.ID, entry.name, tuple(entry.peerURLs), tuple(entry.clientURLs), entry.isLearner)
            for entry in answer.members
        ]

    async def find(self, peer_url: str) -> Member | None:
        """Return the member that others reach at a URL."""
        return next((member for member in await self.listed() if peer_url in member.peer_urls), None)

    async def add_learner(self, peer_url: str) -> Member:
        """Add a member that does not vote yet; one that is there already is left as it is."""
        existing = await self.find(peer_url)
        if existing is not None:
            return existing
        request = rpc.MemberAddRequest(peerURLs=[peer_url], isLearner=True)
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            try:
                await self._client.call(
                    lambda endpoint: endpoint.cluster.MemberAdd, request, timeout=self._seconds
                )
                break
            except Rejected as error:
                # Another one is joining at this moment, or the cluster does not take members while it is not healthy.
                busy = "too many learner" in str(error) or "unhealthy cluster" in str(error)
                if not busy or asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(_PROMOTE_DELAY)
        added = await self.find(peer_url)
        if added is None:
            raise StoreError(f"the member at {peer_url} was added and is not there")
        return added

    async def promote(self, identity: int) -> None:
        """Give a learner its vote, as soon as it has caught up."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            member = next((member for member in await self.listed() if member.identity == identity), None)
            if member is None:
                raise StoreError(f"there is no member {identity:x}")
            if not member.learner:
                return
            try:
                await self._client.call(
                    lambda endpoint: endpoint.cluster.MemberPromote,
                    rpc.MemberPromoteRequest(ID=identity),
                    timeout=5.0,
                )
                return
            except (Rejected, Unavailable) as error:
                if asyncio.get_running_loop().time() > deadline:
                    raise StoreError(f"the learner {identity:x} cannot be promoted: {error}") from None
            await asyncio.sleep(_PROMOTE_DELAY)

    async def remove(self, identity: int) -> None:
        """Remove a member; one that is gone already is no error."""
        try:
            await self._client.call(
                lambda endpoint: endpoint.cluster.MemberRemove, rpc.MemberRemoveRequest(ID=identity),
                timeout=self._seconds,
            )  # fmt: skip
        except Rejected as error:
            if "member not found" not in str(error):
                raise
