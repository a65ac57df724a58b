"""pyb federation init: makes a cluster the host of a federation."""

from __future__ import annotations

import argparse
import asyncio

from pybernetes.tools.federation import installing
from pybernetes.tools.federation.session import Session, add_flags

SUMMARY = "Install the kinds and the settings of a federation's control plane, and federate the usual kinds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_flags(parser)
    parser.add_argument(
        "--scope",
        choices=("Cluster", "Namespaced"),
        default="Cluster",
        help="Namespaced: for one namespace alone",
    )
    parser.add_argument(
        "--types",
        default="",
        metavar="KINDS",
        help="kinds to federate, with commas between them (default: kubefed's)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Install what a host needs."""

    async def work() -> None:
        async with Session(arguments) as session:
            if session.dry_run:
                session.say(
                    f"the kinds of a federation would be installed, with {session.namespace} (dry run)"
                )
                return
            limited = arguments.scope == "Namespaced"
            await installing.install(await session.host(), session.namespace, one_namespace=limited)
            names = tuple(arguments.types.split(",")) if arguments.types else installing.DEFAULT_TYPES
            await installing.enable_types(session, names)

    asyncio.run(work())
    return 0
