"""The etcd of a cluster whose control planes have it stacked: who its members are, and how a machine joins and leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.control_plane.store.drivers.etcd import cluster
from pybernetes.control_plane.store.drivers.etcd.client import Endpoint, EtcdClient, Rejected
from pybernetes.control_plane.store.drivers.etcd.cluster import Member
from pybernetes.control_plane.store.protocol import StoreError, Unavailable
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import NAMESPACE

_ANNOTATION = "kubeadm.kubernetes.io/etcd.advertise-client-urls"
_DELAY = 0.2  # between two tries of what etcd does not do yet
_PROMOTE_SECONDS = 5.0


class Members:
    """The members of a cluster that a machine joins or leaves: what etcd refuses for a while is tried again."""

    def __init__(self, client: EtcdClient, seconds: float) -> None:
        self._client, self._seconds = client, seconds

    async def listed(self) -> list[Member]:
        """Return all members."""
        _, members = await cluster.members(self._client, self._seconds)
        return members

    async def check_health(self) -> None:
        """Raise StoreError if not most of the members that can be asked say that they are well."""
        urls = [url for member in await self.listed() for url in member.client_urls[:1]]
        client = self._client.of(urls)
        try:
            problems = await asyncio.gather(*(self._problem(endpoint) for endpoint in client.endpoints))
        finally:
            await client.close()
        told = [problem for problem in problems if problem]
        if len(urls) - len(told) <= len(urls) // 2:
            raise StoreError("; ".join(told) or "no member tells where clients reach it")

    async def _problem(self, endpoint: Endpoint) -> str:
        """Return what is wrong with a member; it is asked until it answers or the time is up."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            try:
                errors = (await cluster.status(endpoint)).errors
            except Unavailable as error:
                if asyncio.get_running_loop().time() > deadline:
                    return f"the status of member {endpoint.address} is not available: {error}"
            else:
                return f"member {endpoint.address} is not healthy: {','.join(errors)}" if errors else ""
            await asyncio.sleep(_DELAY)

    async def wait_for_room(self, peer_url: str) -> None:
        """Wait until no other member learns, since etcd takes one at a time; StoreError if one that began does not go on."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            learners = [
                member
                for member in await self.listed()
                if member.is_learner and peer_url not in member.peer_urls
            ]
            if not learners:
                return
            if asyncio.get_running_loop().time() > deadline:
                named = ", ".join(f"{member.id:x} ({','.join(member.peer_urls)})" for member in learners)
                raise StoreError(
                    f"the learner {named} does not catch up, and etcd takes no other meanwhile: remove it with 'etcdctl member remove'"
                )
            await asyncio.sleep(_DELAY)

    async def add_learner(self, peer_url: str) -> Member:
        """Add a member that does not vote yet; one that is there already is left as it is."""
        for member in await self.listed():
            if peer_url in member.peer_urls:
                return member
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            try:
                _, added, _ = await cluster.add(
                    self._client, [peer_url], is_learner=True, seconds=self._seconds
                )
                return added
            except Rejected as error:
                # Another one is joining at this moment, or the cluster does not take members while it is not healthy.
                busy = "too many learner" in str(error) or "unhealthy cluster" in str(error)
                if not busy or asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(_DELAY)

    async def promote(self, identity: int) -> None:
        """Give a learner its vote, as soon as it has caught up."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            member = next((member for member in await self.listed() if member.id == identity), None)
            if member is None:
                raise StoreError(f"there is no member {identity:x}")
            if not member.is_learner:
                return
            try:
                await cluster.promote(self._client, identity, _PROMOTE_SECONDS)
                return
            except (Rejected, Unavailable) as error:
                if asyncio.get_running_loop().time() > deadline:
                    raise StoreError(f"the learner {identity:x} cannot be promoted: {error}") from None
            await asyncio.sleep(_DELAY)

    async def remove(self, identity: int) -> None:
        """Remove a member; one that is gone already is no error."""
        try:
            await cluster.remove(self._client, identity, self._seconds)
        except Rejected as error:
            if "member not found" not in str(error):
                raise


async def endpoints(client: Client) -> list[str]:
    """Return where clients reach the members, as the mirror pods of etcd tell."""
    try:
        page = await client.list(PODS, NAMESPACE, labels="component=etcd,tier=control-plane")
    except (StatusError, OSError) as error:
        raise KubeadmError(f"error retrieving the etcd pods: {error}") from None
    urls = [(pod["metadata"].get("annotations") or {}).get(_ANNOTATION, "") for pod in page.items]
    return sorted({url for url in urls if url})


async def states(servers: dict[str, str], certificates: Path, seconds: float) -> dict[str, str]:
    """Return what each member says of itself, by name; the certificate is that of API servers."""
    if not servers:
        return {}
    try:
        client = EtcdClient(
            list(servers.values()),
            cafile=str(certificates / "etcd" / "ca.crt"),
            certfile=str(certificates / "apiserver-etcd-client.crt"),
            keyfile=str(certificates / "apiserver-etcd-client.key"),
        )
        try:
            told = await asyncio.gather(*(_state(endpoint, seconds) for endpoint in client.endpoints))
        finally:
            await client.close()
    except StoreError as error:
        raise KubeadmError(f"etcd cannot be asked: {error}") from None
    return dict(zip(servers, told, strict=True))


async def _state(endpoint: Endpoint, seconds: float) -> str:
    try:
        return described(await cluster.status(endpoint, seconds))
    except Unavailable:
        return "does not answer"


def described(member: cluster.MemberStatus) -> str:
    """Return the state of a member in a line, with its alarms."""
    role = "learner" if member.is_learner else "leader" if member.is_leader else "follower"
    text = f"{role}, etcd {member.version}, {member.size / 1e6:.1f} MB"
    problems = "; ".join(error.strip() for error in member.errors)
    return f"{text}, {problems}" if problems else text


@asynccontextmanager
async def members(servers: list[str], certificates: Path, seconds: float) -> AsyncIterator[Members]:
    """Give the members of the etcd at some addresses; errors are told as KubeadmError."""
    if not servers:
        raise KubeadmError(
            "could not find any etcd endpoints: no etcd pod of the control plane is known to the API server"
        )
    try:
        client = EtcdClient(
            servers,
            cafile=str(certificates / "etcd" / "ca.crt"),
            certfile=str(certificates / "etcd" / "healthcheck-client.crt"),
            keyfile=str(certificates / "etcd" / "healthcheck-client.key"),
        )
        try:
            yield Members(client, seconds)
        finally:
            await client.close()
    except StoreError as error:
        raise KubeadmError(f"etcd cluster is not healthy: {error}") from None
