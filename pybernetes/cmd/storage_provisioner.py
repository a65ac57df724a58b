"""storage-provisioner: gives claims folders on local disk."""

from __future__ import annotations

import argparse
from pathlib import Path

from pybernetes.cmd._program import run, until_signal
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag

SUMMARY = "Give claims of the default storage class folders on local disk"
FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("directory", "/var/lib/pybernetes/volumes", "where the folders are"),
    Flag("node", "", "only for claims whose pods go to this node; all if empty, for nodes that share a disk"),
    Flag("create-class", True, "create the default class if it does not exist"),
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return flags.parser("storage-provisioner", SUMMARY, FLAGS)


def main(argv: list[str]) -> int:
    """Provision volumes until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    return run("storage-provisioner", _serve(arguments), ConfigError)


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.node.provisioner import provisioner

    async with kubeconfig.load(arguments.kubeconfig or None).client(
        user_agent="storage-provisioner"
    ) as client:
        if arguments.create_class:
            await provisioner.ensure_class(client)
        await until_signal(provisioner.provision(client, Path(arguments.directory), arguments.node))
    return 0
