"""pyb federation share: lets members share services, which have one name and one address in all of them."""

from __future__ import annotations

import argparse
import asyncio

from pybernetes.tools.federation import host_objects, sharing
from pybernetes.tools.federation.errors import FederationError
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.federation.session import Session, add_flags

SUMMARY = "Let clusters that have joined share services (ServiceExport, ServiceImport, clusterset.local)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_flags(parser)
    parser.add_argument(
        "clusters", nargs="+", metavar="CLUSTER", help="names of members, which are those of their contexts"
    )
    parser.add_argument("--host-cluster-name", default="", metavar="NAME", help="the host's name, if not its context's")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Let members share services."""

    async def work() -> None:
        async with Session(arguments) as session:
            if await host_objects.is_limited(await session.host(), session.namespace):
                raise FederationError("a federation for one namespace cannot share services")
            for name in arguments.clusters:
                joining = Joining(
                    name, arguments.host_cluster_name or session.host_context, session.namespace
                )
                if session.dry_run:
                    session.say(f"{name} would share services (dry run)")
                    continue
                member = await session.client(session.config(name))
                await sharing.share(member, joining)
                if not await sharing.answer_names(member):
                    session.warn(
                        f"{name} has no ConfigMap coredns: its name server is to be told `multicluster` by hand"
                    )
                session.say(f"{name} shares services")

    asyncio.run(work())
    return 0
