"""local-node: a node of a local cluster with real containers; ``pyb up`` starts it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sys

SUMMARY = "Run a node of a local cluster: its container runtime and its kubelet"


def main(argv: list[str]) -> int:
    """Runs until told to stop."""
    parser = argparse.ArgumentParser(prog="local-node", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    parser.add_argument("--number", required=True, type=int, help="which of its nodes, counted from 0")
    arguments = parser.parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(0)
    try:
        return asyncio.run(_run(arguments.cluster, arguments.number))
    except (OSError, ValueError, RuntimeError) as error:
        print(f"local-node: {error}", file=sys.stderr)
        return 1


async def _run(name: str, number: int) -> int:
    from pybernetes.tools.local import lifecycle, network
    from pybernetes.tools.local.node import Node
    from pybernetes.tools.local.places import Cluster

    cluster = Cluster(name)
    settings = lifecycle.Settings(**json.loads(cluster.settings.read_text()))
    node = Node(cluster, lifecycle.node_name(cluster, number))
    work = asyncio.ensure_future(node.run(network.address(settings.node_range, number)))
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, work.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await work
    return 0
