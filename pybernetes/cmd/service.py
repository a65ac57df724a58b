"""service: where a service of a local cluster can be reached from this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybernetes.cmd._cluster import parser, run

if TYPE_CHECKING:
    from pybernetes.tools.local.paths import Cluster

SUMMARY = "Print where a service of a local cluster can be reached"


def main(argv: list[str]) -> int:
    """Print a URL for each port of the service."""
    line = parser("service", SUMMARY, positional=False)
    line.add_argument("service", help="name of the service")
    line.add_argument(
        "--url", action="store_true", help="print the URLs alone, which is also what happens without"
    )
    line.add_argument("-n", "--namespace", default="default", help="namespace of the service")
    line.add_argument("--https", action="store_true", help="print https URLs")
    arguments = line.parse_args(argv)
    from pybernetes.tools.local.network import service_urls

    def work(cluster: Cluster) -> None:
        scheme = "https" if arguments.https else "http"
        for url in service_urls.find(cluster, arguments.service, arguments.namespace, scheme):
            print(url)

    return run("service", arguments, work)
