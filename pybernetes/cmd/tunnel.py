"""tunnel: forwards ports of this machine to services of type LoadBalancer of a cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd import _cluster
from pybernetes.cmd._program import until_signal

if TYPE_CHECKING:
    from pybernetes.tools.local.paths import Cluster

SUMMARY = "Forward ports to services of type LoadBalancer, where their addresses cannot be reached"


def main(argv: list[str]) -> int:
    """Forward until told to stop."""
    parser = _cluster.parser("tunnel", SUMMARY, positional=False)
    parser.add_argument("services", nargs="*", help="names of services (default: all of type LoadBalancer)")
    parser.add_argument("-n", "--namespace", default="", help="namespace of the services (default: all)")
    parser.add_argument("--address", default="127.0.0.1", help="where to listen")
    parser.add_argument(
        "--kubeconfig",
        default="",
        metavar="FILE",
        help="who one is and in which cluster, instead of --cluster",
    )
    arguments = parser.parse_args(argv)

    def forward(file: Path) -> int:
        import asyncio

        from pybernetes.tools.local.network import tunnel

        asyncio.run(
            until_signal(tunnel.run(file, arguments.services, arguments.namespace, arguments.address))
        )
        return 0

    def work(cluster: Cluster) -> int:
        return forward(cluster.kubeconfig)

    if not arguments.kubeconfig:
        return _cluster.run("tunnel", arguments, work)
    if arguments.cluster:
        parser.error("--cluster and --kubeconfig exclude each other")
    try:
        return forward(Path(arguments.kubeconfig))
    except (OSError, ValueError) as error:
        print(f"pyb tunnel: {error}", file=sys.stderr)
        return 1
