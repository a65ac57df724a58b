"""gateway: carries out Ingresses and the Gateway API with an Envoy of its own."""

from __future__ import annotations

import argparse
import ipaddress
import tempfile
from pathlib import Path

from pybernetes.cmd._program import run, until_signal
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag

SUMMARY = "Let traffic into the cluster as Ingresses and Gateways say, through Envoy"
FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("bind-address", "", "address of this machine that the proxy listens at, and that nodes reach it by"),
    Flag("port-range", "20000-20999", "ports of this machine that the proxy may listen at, first and last"),
    Flag(
        "state-dir", "", "folder for the proxy's sockets, closed to others; one is made and removed if empty"
    ),
    Flag("gateway-api", True, "serve Gateways and their routes; their definitions must be there"),
    Flag("ingress", True, "serve Ingresses"),
    Flag("concurrency", 1, "threads of the proxy"),
    Flag("proxy-user", 0, "number of the user that the proxy runs as; 0 for the user of this program"),
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return flags.parser("gateway", SUMMARY, FLAGS)


def port_range(text: str) -> range:
    """Return the ports of a flag; ValueError if they are none."""
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= 65535):
        raise ValueError(f"--port-range: {text!r} is no range of ports")
    return range(int(first), int(last) + 1)


def check(arguments: argparse.Namespace) -> None:
    """Check the command line; ValueError says what cannot be."""
    try:
        ipaddress.ip_address(arguments.bind_address)
    except ValueError:
        raise ValueError(f"--bind-address: {arguments.bind_address!r} is no IP address") from None
    port_range(arguments.port_range)
    if arguments.concurrency < 1:
        raise ValueError("--concurrency: at least one thread is needed")
    if arguments.proxy_user < 0:
        raise ValueError("--proxy-user: no user has a negative number")


def main(argv: list[str]) -> int:
    """Run the gateway until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.control_plane.gateway.envoy.api_pool import MissingProxy
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    return run("gateway", _serve(arguments), ConfigError, MissingProxy)


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.gateway.controller.gateway import Gateway, Options
    from pybernetes.runtime.manager import Manager

    check(arguments)
    with tempfile.TemporaryDirectory(prefix="pybernetes-gateway-") as temporary:
        options = Options(
            Path(arguments.state_dir or temporary), arguments.bind_address, port_range(arguments.port_range),
            arguments.gateway_api, arguments.ingress, arguments.concurrency, arguments.proxy_user,
        )  # fmt: skip
        async with kubeconfig.load(arguments.kubeconfig or None).client(user_agent="gateway") as client:
            await until_signal(Gateway(Manager(client), options).run())
    return 0
