"""dashboard: serve the dashboard of a cluster on this machine."""

from __future__ import annotations

import argparse
import ipaddress
from typing import TYPE_CHECKING

from pybernetes.cmd import _program

if TYPE_CHECKING:
    from pybernetes.client.kubeconfig import Config

SUMMARY = "Serve the dashboard of a cluster on this machine, and print the link that opens it"


def main(argv: list[str]) -> int:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="pyb dashboard", description=SUMMARY, allow_abbrev=False)
    parser.add_argument(
        "--kubeconfig", default="", help="file that says where the API server is and who this is"
    )
    parser.add_argument("--context", default="", help="context of the kubeconfig")
    parser.add_argument("--address", default="127.0.0.1", help="loopback address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: one that is free)")
    parser.add_argument(
        "--host",
        default="",
        help="name to be asked under (default: one below localhost that nobody can guess, so that no other "
        "server of this machine is sent the cookie)",
    )
    options = parser.parse_args(argv)
    if not _is_loopback(options.address):
        parser.error(f"--address {options.address} is not supported: the dashboard listens on loopback only")
    from pybernetes.client import kubeconfig

    try:
        config = kubeconfig.load(options.kubeconfig or None, context=options.context)
    except ValueError as error:
        parser.exit(1, f"pyb dashboard: {error}\n")
    return _program.run("pyb dashboard", _serve(config, options))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


async def _serve(config: Config, options: argparse.Namespace) -> int:
    from pybernetes.tools.dashboard.server import DashboardServer

    server = DashboardServer(config, options.address, options.port, options.host)
    return await _program.serve(server, server.invitation)
