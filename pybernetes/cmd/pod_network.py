"""pod-network: joins the pods of this node to those of the others."""

from __future__ import annotations

import argparse
import socket

from pybernetes.cmd._program import run, until_signal

SUMMARY = "Join the pods of this node to those of the others, by VXLAN or plain routes"


def main(argv: list[str]) -> int:
    """Run until told to stop; the network stays as it is then."""
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.node.network import flags

    arguments = flags.parser(SUMMARY).parse_args(argv)
    logs.set_up(arguments.v)
    return run("pod-network", _run(arguments), ConfigError)


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.node.network import flags, pod_network

    configuration = flags.configuration(arguments)
    name = (arguments.node_name or socket.gethostname()).lower()
    async with kubeconfig.load(arguments.kubeconfig or None).client(user_agent="pod-network") as client:
        await until_signal(pod_network.run(client, name, configuration))
    return 0
