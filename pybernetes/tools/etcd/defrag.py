"""``pyb etcd defrag``: give the space of what was deleted back, one member after another."""

from __future__ import annotations

import argparse

from pybernetes.control_plane.store.drivers.etcd import cluster
from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient
from pybernetes.tools.etcd import _connection, endpoint

HELP = "give unused space of members back to the file system"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("--cluster", action="store_true", help="all members, not only the named endpoints")
    _connection.add_flags(parser)
    parser.set_defaults(run=defragment)


def defragment(arguments: argparse.Namespace) -> str:
    """Defragment one member after another, the leader last, so that the cluster goes on meanwhile."""

    async def work(client: EtcdClient) -> list[str]:
        asked = await endpoint.endpoints(client, arguments)
        try:
            states = [(await cluster.status(member), member) for member in asked.endpoints]
            states.sort(key=lambda state: state[0].is_leader)
            for _, member in states:
                await cluster.defragment(member)
            return [f"Finished defragmenting etcd member[{member.address}]" for _, member in states]
        finally:
            await asked.close()

    return "\n".join(_connection.run(arguments, work))
