"""kubefedctl orphaning-deletion: whether what a federated object made stays when it goes."""

from __future__ import annotations

import argparse

from pybernetes.control_plane.federation.kinds import ORPHAN
from pybernetes.tools.federation import resources
from pybernetes.tools.federation.session import Session

SUMMARY = "Manage orphaning delete policy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("what", choices=("enable", "disable", "status"))
    parser.add_argument("type", metavar="FEDERATED-TYPE-NAME")
    parser.add_argument("resource", metavar="FEDERATED-RESOURCE-NAME")
    parser.add_argument(
        "-n", "--namespace", default="", metavar="NAMESPACE", help="namespace of the federated resource"
    )


async def run(session: Session) -> None:
    """Show or set the annotation of a federated object."""
    arguments = session.arguments
    client = await session.host()
    resource = await resources.find(client, arguments.type)
    if not resource.ref.kind.startswith("Federated"):
        session.say(f"Warning: {resource.name}/{resource.ref.version} might not be a federated resource")
    namespace = (arguments.namespace or client.namespace) if resource.ref.namespaced else ""
    obj = await client.get(resource.ref, arguments.resource, namespace)
    enabled = (obj["metadata"].get("annotations") or {}).get(ORPHAN) == "true"
    if arguments.what == "status":
        session.say("Enabled" if enabled else "Disabled")
        return
    wanted = arguments.what == "enable"
    if wanted != enabled and not session.dry_run:
        patch = {"metadata": {"annotations": {ORPHAN: "true" if wanted else None}}}
        await client.patch(resource.ref, arguments.resource, patch, namespace)
