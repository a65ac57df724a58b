"""kubefedctl enable: federates a kind."""

from __future__ import annotations

import argparse
from pathlib import Path

from pybernetes.control_plane.federation import type_config
from pybernetes.control_plane.federation.kinds import TYPES_GROUP, TYPES_VERSION
from pybernetes.tools.federation import enabling, text
from pybernetes.tools.federation.errors import FederationError
from pybernetes.tools.federation.session import Session

SUMMARY = "Enables propagation of a Kubernetes API type"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add = parser.add_argument
    add(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="the kind: its plural, singular, kind or short name",
    )
    add_target(parser)
    add(
        "--federated-version",
        default=TYPES_VERSION,
        metavar="VERSION",
        help="The API version to use for the generated federated type.",
    )
    add("-o", "--output", default="", choices=("", "yaml"), help="Print the objects, and change nothing.")
    add(
        "-f",
        "--filename",
        default="",
        metavar="FILE",
        help="A file with an EnableTypeDirective, in place of the flags.",
    )
    add(
        "--host-cluster-name",
        default="",
        metavar="NAME",
        help="The name that the host has in the members, if it is not that of its context.",
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add what says which kind is meant, and where its federated one is."""
    parser.add_argument(
        "--federated-group",
        default=TYPES_GROUP,
        metavar="GROUP",
        help="The name of the API group to use for the generated federated type.",
    )
    parser.add_argument(
        "--version", default="", metavar="VERSION", help="Optional, the API version of the target type."
    )


async def run(session: Session) -> None:
    """Federate a kind, or print what would do so."""
    arguments = session.arguments
    name, version = arguments.name, arguments.version
    group, federated_version = arguments.federated_group, arguments.federated_version
    if arguments.filename:
        directive = text.read_one(Path(arguments.filename))
        spec = directive.get("spec") or {}
        name = (directive.get("metadata") or {}).get("name", "")
        version = spec.get("targetVersion", "")
        group = spec.get("federatedGroup") or TYPES_GROUP
        federated_version = spec.get("federatedVersion") or TYPES_VERSION
    if not name:
        raise FederationError("NAME is required")
    planned = await enabling.plan(
        await session.host(), name, version=version, group=group, federated_version=federated_version
    )
    if arguments.output:
        config = type_config.to_object(planned.config, session.namespace)
        del config["metadata"]["namespace"]
        session.say(
            text.documents(
                ("core.kubefed.io/v1beta1", "FederatedTypeConfig", config),
                ("apiextensions.k8s.io/v1", "CustomResourceDefinition", planned.definition),
            )
        )
        return
    await enabling.enable(session, planned)
