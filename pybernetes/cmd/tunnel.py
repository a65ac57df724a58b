"""tunnel: forwards ports of this machine to services of type LoadBalancer of a local cluster."""

from __future__ import annotations

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
    arguments = parser.parse_args(argv)

    def work(cluster: Cluster) -> int:
        import asyncio

        from pybernetes.tools.local import tunnel

        found = tunnel.find(cluster, arguments.services, arguments.namespace)
        asyncio.run(until_signal(tunnel.run(cluster, found, arguments.address)))
        return 0

    return _cluster.run("tunnel", arguments, work)
