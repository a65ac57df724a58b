"""``pyb etcd member``: who belongs to the cluster."""

from __future__ import annotations

import argparse

from pybernetes.control_plane.store.drivers.etcd import cluster
from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient
from pybernetes.control_plane.store.drivers.etcd.cluster import Member
from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.tools.etcd import _connection, _printing

HELP = "list, add, promote, update and remove members"
_TITLES = ("ID", "STATUS", "NAME", "PEER ADDRS", "CLIENT ADDRS", "IS LEARNER")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(required=True, metavar="list|add|promote|update|remove")
    listing = actions.add_parser("list", help="list all members")
    _printing.add_flag(listing)
    listing.set_defaults(run=list_members)
    adding = actions.add_parser("add", help="announce a new member, which is started afterwards")
    adding.add_argument("name")
    adding.add_argument(
        "--peer-urls", required=True, help="where the others will reach it, separated by commas"
    )
    adding.add_argument("--learner", action="store_true", help="without a vote until it is promoted")
    adding.set_defaults(run=add)
    promoting = actions.add_parser("promote", help="give a learner a vote")
    promoting.set_defaults(run=promote)
    removing = actions.add_parser("remove", help="take a member out of the cluster")
    removing.set_defaults(run=remove)
    updating = actions.add_parser("update", help="give a member other addresses for its peers")
    updating.add_argument("--peer-urls", required=True, help="the addresses, separated by commas")
    updating.set_defaults(run=update)
    for action in (promoting, removing, updating):
        action.add_argument("id", type=identity, help="the member's id, in hexadecimal")
    for action in (listing, adding, promoting, removing, updating):
        _connection.add_flags(action)


def identity(text: str) -> int:
    """Return a member's id; ValueError if it is none."""
    number = int(text, 16)
    if not 0 < number < 1 << 64:
        raise ValueError(text)
    return number


def list_members(arguments: argparse.Namespace) -> str:
    """Return all members."""
    _, members = _connection.run(arguments, cluster.members)
    rows = [
        [
            f"{member.id:x}",
            "started" if member.is_started else "unstarted",
            member.name,
            ",".join(member.peer_urls),
            ",".join(member.client_urls),
            str(member.is_learner).lower(),
        ]
        for member in members
    ]
    objects = [
        {
            "ID": member.id,
            "name": member.name,
            "peerURLs": member.peer_urls,
            "clientURLs": member.client_urls,
            **({"isLearner": True} if member.is_learner else {}),
        }
        for member in members
    ]
    return _printing.printed(arguments.write_out, _TITLES, rows, {"members": objects})


def add(arguments: argparse.Namespace) -> str:
    """Announce a member; say how it is to be started, and when the number of votes is no good one."""
    urls = arguments.peer_urls.split(",")
    known, member, members = _connection.run(
        arguments, lambda client: cluster.add(client, urls, is_learner=arguments.learner)
    )
    initial = [f"{_name(other, arguments.name)}={url}" for other in members for url in other.peer_urls]
    lines = [
        f"Member {member.id:16x} added to cluster {known:16x}",
        "",
        f'ETCD_NAME="{arguments.name}"',
        f'ETCD_INITIAL_CLUSTER="{",".join(initial)}"',
        f'ETCD_INITIAL_ADVERTISE_PEER_URLS="{",".join(urls)}"',
        'ETCD_INITIAL_CLUSTER_STATE="existing"',
    ]
    return "\n".join([*lines, *advice(members)])


def _name(member: Member, new: str) -> str:
    return member.name or new


def advice(members: list[Member]) -> list[str]:
    """Return what is to be said about a number of votes: an even one bears no more losses than the odd one below."""
    voters = sum(not member.is_learner for member in members)
    if voters % 2 or voters == 0:
        return []
    return [
        "",
        f"{voters} voting members bear the loss of {(voters - 1) // 2}, as {voters - 1} do: add another one.",
    ]


def promote(arguments: argparse.Namespace) -> str:
    """Promote a learner."""
    known = _connection.run(arguments, lambda client: cluster.promote(client, arguments.id))
    return f"Member {arguments.id:16x} promoted in cluster {known:16x}"


def remove(arguments: argparse.Namespace) -> str:
    """Remove a member; the last one would take the cluster with it."""

    async def removed(client: EtcdClient) -> int:
        _, members = await cluster.members(client)
        if [member.id for member in members] == [arguments.id]:
            raise StoreError("it is the only member: without it there is no cluster")
        return await cluster.remove(client, arguments.id)

    known = _connection.run(arguments, removed)
    return f"Member {arguments.id:16x} removed from cluster {known:16x}"


def update(arguments: argparse.Namespace) -> str:
    """Change a member's addresses."""
    urls = arguments.peer_urls.split(",")
    known = _connection.run(arguments, lambda client: cluster.update(client, arguments.id, urls))
    return f"Member {arguments.id:16x} updated in cluster {known:16x}"
