"""kubefedctl unjoin: ends the membership of a cluster."""

from __future__ import annotations

import argparse

from pybernetes.client.errors import StatusError
from pybernetes.client.kubeconfig import ConfigError
from pybernetes.tools.federation import joining
from pybernetes.tools.federation.errors import FederationError
from pybernetes.tools.federation.session import Session
from pybernetes.tools.federation.verbs.join import add_names, names_of

SUMMARY = "Remove the registration of a cluster from a KubeFed control plane"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_names(parser)
    parser.add_argument(
        "--force",
        action="store_true",
        help="Delete federated cluster and secret even if resources in the cluster remain.",
    )


async def run(session: Session) -> None:
    """Remove a cluster from the federation: first its account there, then what the host knows of it."""
    names, force = names_of(session), session.arguments.force
    host = await session.host()
    if session.dry_run:
        session.say(f"kubefedcluster.core.kubefed.io/{names.cluster} would leave (dry run)")
        return
    try:
        member = await session.client(session.config(session.arguments.cluster_context or names.cluster))
        problems = await joining.leave(member, names)
    except (ConfigError, StatusError, OSError) as error:
        problems = [str(error)]
    if problems and not force:
        raise FederationError(f"could not clean up in cluster {names.cluster}: {'; '.join(problems)}")
    for problem in problems:
        session.warn(problem)
    if not await joining.forget(host, names):
        raise FederationError(f'kubefedclusters.core.kubefed.io "{names.cluster}" not found')
    session.say(f"kubefedcluster.core.kubefed.io/{names.cluster} left")
