"""pod-network: joins the pods of this node to those of the others."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.lib.flags import Flag, add

if TYPE_CHECKING:
    from pybernetes.node.network.plan import Configuration

SUMMARY = "Join the pods of this node to those of the others, by VXLAN or plain routes"
FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("node-name", "", "the name of this node; by default that of the host"),
    Flag("backend", "vxlan", "vxlan, or host-gw if all nodes are on one link"),
    Flag("cluster-cidr", (), "the ranges of all pods; by default those of all nodes"),
    Flag("vni", 1, "number of the overlay"),
    Flag("vxlan-port", 8472, "UDP port of the overlay"),
    Flag("mtu", 0, "MTU of pods; 0 takes what the node's link allows"),
    Flag("masquerade", True, "give packets that leave the cluster the address of the node"),
    Flag("cni-conf-dir", "/etc/cni/net.d", "where the CNI configuration is written; empty writes none"),
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="pod-network", description=SUMMARY, allow_abbrev=False)
    add(result, FLAGS)
    return result


def configuration(arguments: argparse.Namespace) -> Configuration:
    """What the command line says; ValueError if it can not be."""
    from pybernetes.node.network.plan import Configuration

    return Configuration(
        backend=arguments.backend,
        cluster_cidrs=arguments.cluster_cidr,
        vni=arguments.vni,
        port=arguments.vxlan_port,
        mtu=arguments.mtu,
        masquerade=arguments.masquerade,
        cni_folder=Path(arguments.cni_conf_dir) if arguments.cni_conf_dir else None,
    )


def main(argv: list[str]) -> int:
    """Runs until told to stop; the network stays as it is then."""
    arguments = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    try:
        return asyncio.run(_run(arguments))
    except (OSError, ValueError, ConfigError) as error:
        print(f"pod-network: {error}", file=sys.stderr)
        return 1


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.node.network import pod_network

    wanted = configuration(arguments)
    client = kubeconfig.load(arguments.kubeconfig or None).client(user_agent="pod-network")
    name = (arguments.node_name or socket.gethostname()).lower()
    work = asyncio.ensure_future(pod_network.run(client, name, wanted))
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, work.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await work
    await client.close()
    return 0
