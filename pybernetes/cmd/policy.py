"""policy: ask which network policy lets a connection pass or not; nothing is written."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.client.kubeconfig import Config
    from pybernetes.node.network.policy.explain import Cluster

SUMMARY = "Ask which network policy lets a connection pass or not"


def main(argv: list[str]) -> int:
    """Answer; the exit code is 0 if the connection is allowed, 1 if it is denied, 2 if nothing could be asked."""
    parser = argparse.ArgumentParser(prog="policy", description=SUMMARY)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser("explain", help="allowed or denied, and by which rule")
    ends = "a pod as NAMESPACE/NAME or NAME, an address, or the word external"
    command.add_argument("source", metavar="FROM", help=ends)
    command.add_argument("destination", metavar="TO", help=ends)
    command.add_argument("port", metavar="PORT", help="the port of the destination: 80, 53/udp, 7/sctp")
    command.add_argument(
        "--kubeconfig", default="", help="file that says where the API server is and who this is"
    )
    command.add_argument("--context", default="", help="the context to use")
    options = parser.parse_args(argv)
    from pybernetes.client import kubeconfig
    from pybernetes.client.errors import StatusError
    from pybernetes.lib.printable import printable
    from pybernetes.node.network.policy.explain import explain, port_of

    try:
        port_of(options.port)
        source = kubeconfig.load(options.kubeconfig or None, context=options.context)
        cluster = asyncio.run(_read(source))
        answer = explain(
            cluster, options.source, options.destination, options.port, source.namespace or "default"
        )
    except (StatusError, ValueError, OSError) as error:
        print(f"pyb policy: {printable(str(error))}", file=sys.stderr)
        return 2
    print("allowed" if answer.allowed else "denied")
    for line in answer.lines:
        print(f"  {printable(line)}")
    return 0 if answer.allowed else 1


async def _read(source: Config) -> Cluster:
    """Return what decides about connections; a cluster need not have ClusterNetworkPolicies."""
    from pybernetes.client.errors import StatusError
    from pybernetes.client.refs import NAMESPACES, NETWORK_POLICIES, PODS
    from pybernetes.node.network.policy.explain import Cluster
    from pybernetes.node.network.policy.sources import CLUSTER_NETWORK_POLICIES

    async with source.client(user_agent="policy") as client:
        listed = [(await client.list(kind)).items for kind in (PODS, NAMESPACES, NETWORK_POLICIES)]
        try:
            wide = (await client.list(CLUSTER_NETWORK_POLICIES)).items
        except StatusError as error:
            if error.code != 404:
                raise
            wide = []
        return Cluster(listed[0], listed[1], listed[2], wide)
