"""The members of an etcd cluster: who they are, how they are, and how to change them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd.client import CALL_SECONDS, Endpoint, EtcdClient
from pybernetes.control_plane.store.protocol import StoreError, Unavailable
from pybernetes.lib.grpc.channel import RpcError, StatusCode

HEALTH_SECONDS = 5.0
DEFRAGMENT_SECONDS = 600.0
_ALARMS = {rpc.NOSPACE: "NOSPACE", rpc.CORRUPT: "CORRUPT"}
# Errors of a read that etcd answers nevertheless: it is there, and works.
_ANSWERED = frozenset({StatusCode.PERMISSION_DENIED})


@dataclass(frozen=True, slots=True)
class Member:
    """One member; without a name it has not been started yet."""

    id: int
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...]
    is_learner: bool

    @property
    def is_started(self) -> bool:
        """Whether the member has joined."""
        return bool(self.name)


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """What a member says of itself."""

    endpoint: str
    cluster: int
    member: int
    version: str
    size: int
    size_in_use: int
    leader: int
    is_learner: bool
    raft_term: int
    raft_index: int
    applied_index: int
    revision: int
    errors: tuple[str, ...]

    @property
    def is_leader(self) -> bool:
        """Whether it leads the cluster."""
        return self.member == self.leader


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a member can commit, how long that took, and why not."""

    endpoint: str
    seconds: float
    error: str = ""


def _member(answer: rpc.Member) -> Member:
    return Member(answer.ID, answer.name, tuple(answer.peerURLs), tuple(answer.clientURLs), answer.isLearner)


async def members(client: EtcdClient, seconds: float = CALL_SECONDS) -> tuple[int, list[Member]]:
    """Return the id of the cluster and its members."""
    answer, _ = await client.call(
        lambda endpoint: endpoint.cluster.MemberList,
        rpc.MemberListRequest(linearizable=True),
        timeout=seconds,
    )
    return answer.header.cluster_id, [_member(member) for member in answer.members]


async def add(
    client: EtcdClient, peer_urls: list[str], *, is_learner: bool = False, seconds: float = CALL_SECONDS
) -> tuple[int, Member, list[Member]]:
    """Announce a new member; return the id of the cluster, the member, and all of them.

    A learner has no vote until it is promoted, so that the cluster does not wait for one that never comes.
    """
    request = rpc.MemberAddRequest(peerURLs=peer_urls, isLearner=is_learner)
    answer, _ = await client.call(lambda endpoint: endpoint.cluster.MemberAdd, request, timeout=seconds)
    return answer.header.cluster_id, _member(answer.member), [_member(member) for member in answer.members]


async def promote(client: EtcdClient, member: int, seconds: float = CALL_SECONDS) -> int:
    """Give a learner a vote; etcd refuses while it is behind. Return the id of the cluster."""
    request = rpc.MemberPromoteRequest(ID=member)
    answer, _ = await client.call(lambda endpoint: endpoint.cluster.MemberPromote, request, timeout=seconds)
    identity: int = answer.header.cluster_id
    return identity


async def remove(client: EtcdClient, member: int, seconds: float = CALL_SECONDS) -> int:
    """Take a member out of the cluster, whose id is returned."""
    request = rpc.MemberRemoveRequest(ID=member)
    answer, _ = await client.call(lambda endpoint: endpoint.cluster.MemberRemove, request, timeout=seconds)
    identity: int = answer.header.cluster_id
    return identity


async def update(client: EtcdClient, member: int, peer_urls: list[str]) -> int:
    """Give a member other addresses; return the id of the cluster."""
    request = rpc.MemberUpdateRequest(ID=member, peerURLs=peer_urls)
    answer, _ = await client.call(lambda endpoint: endpoint.cluster.MemberUpdate, request)
    identity: int = answer.header.cluster_id
    return identity


async def status(endpoint: Endpoint, seconds: float = HEALTH_SECONDS) -> MemberStatus:
    """Return the state of the member behind an endpoint."""
    try:
        answer = await endpoint.maintenance.Status(rpc.StatusRequest(), timeout=seconds)
    except RpcError as error:
        raise Unavailable(f"{endpoint.address}: {error.details}") from None
    header = answer.header
    return MemberStatus(
        endpoint.address, header.cluster_id, header.member_id, answer.version, answer.dbSize,
        answer.dbSizeInUse, answer.leader, answer.isLearner, answer.raftTerm, answer.raftIndex,
        answer.raftAppliedIndex, header.revision, tuple(answer.errors),
    )  # fmt: skip


async def health(endpoint: Endpoint, seconds: float = HEALTH_SECONDS) -> Health:
    """Make a linearizable read through one member, and ask it for alarms."""
    begin = time.monotonic()
    error = ""
    try:
        await endpoint.kv.Range(rpc.RangeRequest(key=b"health"), timeout=seconds)
    except RpcError as failure:
        if failure.code not in _ANSWERED:
            is_late = failure.code is StatusCode.DEADLINE_EXCEEDED
            error = "context deadline exceeded" if is_late else failure.details
    took = time.monotonic() - begin
    if not error:
        try:
            answer = await endpoint.maintenance.Alarm(rpc.AlarmRequest(), timeout=seconds)
        except RpcError as failure:
            error = f"Unable to fetch the alarm list: {failure.details}"
        else:
            active = [_ALARMS[alarm.alarm] for alarm in answer.alarms if alarm.alarm in _ALARMS]
            error = f"Active Alarm(s): {' '.join(active)}" if active else ""
    return Health(endpoint.address, took, error)


async def defragment(endpoint: Endpoint) -> None:
    """Give the space of what was deleted back to the file system; the member answers nobody meanwhile."""
    try:
        await endpoint.maintenance.Defragment(rpc.DefragmentRequest(), timeout=DEFRAGMENT_SECONDS)
    except RpcError as error:
        raise StoreError(f"{endpoint.address}: {error.details}") from None


async def alarms(client: EtcdClient) -> list[tuple[int, str]]:
    """Return the members that have raised an alarm, and which."""
    answer, _ = await client.call(lambda endpoint: endpoint.maintenance.Alarm, rpc.AlarmRequest())
    return [(alarm.memberID, _ALARMS.get(alarm.alarm, str(alarm.alarm))) for alarm in answer.alarms]


async def disarm(client: EtcdClient) -> list[tuple[int, str]]:
    """End every alarm; return what has been ended."""
    raised = await alarms(client)
    for member, name in raised:
        request = rpc.AlarmRequest(
            action=rpc.AlarmRequest.DEACTIVATE,
            memberID=member,
            alarm=next(number for number, text in _ALARMS.items() if text == name),
        )
        await client.call(lambda endpoint: endpoint.maintenance.Alarm, request)
    return raised
