"""kubefedctl join: makes a cluster a member of the federation."""

from __future__ import annotations

import argparse

from pybernetes.lib.flags import boolean
from pybernetes.tools.federation import host_objects, joining
from pybernetes.tools.federation.errors import FederationError
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.federation.session import Session

SUMMARY = "Register a cluster with a KubeFed control plane"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_names(parser)
    parser.add_argument(
        "--secret-name",
        default="",
        metavar="NAME",
        help="Name of the secret where the cluster's credentials will be stored in the host cluster.",
    )
    parser.add_argument(
        "--error-on-existing",
        type=boolean,
        nargs="?",
        const=True,
        default=True,
        metavar="BOOLEAN",
        help="Whether what is there already is an error, or made to match (default: true).",
    )


def add_names(parser: argparse.ArgumentParser) -> None:
    """Add what names a cluster that joins or leaves."""
    parser.add_argument("cluster", metavar="CLUSTER_NAME")
    parser.add_argument(
        "--cluster-context",
        default="",
        metavar="CONTEXT",
        help="Name of the cluster's context in the local kubeconfig.",
    )
    parser.add_argument(
        "--host-cluster-name",
        default="",
        metavar="NAME",
        help="If set, overrides the use of host-cluster-context name in resource names created in the target cluster.",
    )


def names_of(session: Session, *, one_namespace: bool = False) -> Joining:
    """Return which cluster joins or leaves which; FederationError if the host's name cannot be."""
    arguments = session.arguments
    host = arguments.host_cluster_name or session.host_context
    if any(char in host for char in ":/"):
        flag = "host-cluster-name" if arguments.host_cluster_name else "host-cluster-context"
        raise FederationError(
            f'{flag} may not contain "/" or ":": host-cluster-name must be set if the name of the context has one'
        )
    return Joining(arguments.cluster, host, session.namespace, one_namespace)


async def run(session: Session) -> None:
    """Join a cluster."""
    arguments = session.arguments
    host = await session.host()
    limited = await host_objects.is_limited(host, session.namespace)
    names = names_of(session, one_namespace=limited)
    config = session.config(arguments.cluster_context or names.cluster)
    if session.dry_run:
        session.say(f"kubefedcluster.core.kubefed.io/{names.cluster} would join (dry run)")
        return
    types = await host_objects.enabled_types(host, session.namespace)
    member = await session.client(config)
    new = arguments.error_on_existing
    if new:
        await joining.check_new(host, member, names)
    token = await joining.prepare_member(member, names, types)
    await joining.register(host, names, config, token, secret_name=arguments.secret_name, new=new)
    session.say(f"kubefedcluster.core.kubefed.io/{names.cluster} joined")
