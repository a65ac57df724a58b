"""storage-provisioner: gives claims folders on local disk."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from pybernetes.lib.flags import Flag, add

SUMMARY = "Give claims of the default storage class folders on local disk"
FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("directory", "/var/lib/pybernetes/volumes", "where the folders are"),
    Flag("node", "", "only for claims whose pods go to this node; all if empty, for nodes that share a disk"),
    Flag("create-class", True, "make the default class if it is not there"),
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="storage-provisioner", description=SUMMARY, allow_abbrev=False)
    add(result, FLAGS)
    return result


def main(argv: list[str]) -> int:
    """Runs until it is told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.client import kubeconfig
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    try:
        return asyncio.run(_serve(arguments))
    except (OSError, kubeconfig.ConfigError) as error:
        print(f"storage-provisioner: {error}", file=sys.stderr)
        return 1


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.node import provisioner

    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with kubeconfig.load(arguments.kubeconfig or None).client(
        user_agent="storage-provisioner"
    ) as client:
        if arguments.create_class:
            await provisioner.ensure_class(client)
        working = asyncio.create_task(
            provisioner.provision(client, Path(arguments.directory), arguments.node)
        )
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)
    return 0
