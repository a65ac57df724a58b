"""kubefedctl federate: makes federated objects of objects that there are."""

from __future__ import annotations

import argparse
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.control_plane.federation.type_config import TypeConfig, for_target
from pybernetes.tools.federation import enabling, federating, host_objects, resources, text
from pybernetes.tools.federation.errors import FederationError
from pybernetes.tools.federation.resources import Resource
from pybernetes.tools.federation.session import Session

SUMMARY = "Federate creates a federated resource from a kubernetes resource"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add = parser.add_argument
    add("type", nargs="?", default="", metavar="TYPE-NAME")
    add("resource", nargs="?", default="", metavar="RESOURCE-NAME")
    add(
        "-n",
        "--namespace",
        default="",
        metavar="NAMESPACE",
        help="The namespace of the resource to federate.",
    )
    add(
        "-o",
        "--output",
        default="",
        choices=("", "yaml"),
        help="Print the federated resource, and change nothing.",
    )
    add(
        "-t",
        "--enable-type",
        action="store_true",
        help="Enable federation of the type if it is not enabled yet.",
    )
    add(
        "-f",
        "--filename",
        default="",
        metavar="FILE",
        help="Print federated resources for those of a file (- for stdin).",
    )
    add("-c", "--contents", action="store_true", help="With a namespace: federate what is in it, too.")
    add(
        "-s",
        "--skip-api-resources",
        action="append",
        default=[],
        metavar="NAMES",
        help="With --contents: kinds or groups to leave out, with commas between them.",
    )


async def run(session: Session) -> None:
    """Federate objects, or print what would be made."""
    arguments = session.arguments
    if arguments.filename:
        if arguments.type:
            raise FederationError("Flag '--filename' does not take any args")
        objects = list(text.read(Path(arguments.filename)))
        _print(session, [federating.federated_object(federating.guessed_type(obj), obj) for obj in objects])
        return
    if not arguments.type:
        raise FederationError("TYPE-NAME is required")
    if not arguments.resource:
        raise FederationError("RESOURCE-NAME is required")
    if arguments.enable_type and arguments.output:
        raise FederationError("Flag '--enable-type' cannot be used with '--output [yaml]'")
    client = await session.host()
    resource = await resources.find(client, arguments.type)
    config = await _type_of(session, client, resource)
    if arguments.contents and not config.is_namespace:
        raise FederationError("Flag '--contents' can only be used with type 'namespaces'.")
    namespace = (arguments.namespace or client.namespace) if resource.ref.namespaced else ""
    made = [(config, await client.get(resource.ref, arguments.resource, namespace))]
    if arguments.contents:
        made += await _contents(session, client, arguments.resource)
    if arguments.output:
        _print(session, [federating.federated_object(config, obj) for config, obj in made])
        return
    for config, obj in made:
        await _create(session, client, config, obj)


async def _type_of(session: Session, client: Client, resource: Resource) -> TypeConfig:
    """Return how a kind is federated; enable it, if that is wanted and it is not."""
    known = await host_objects.find_type(client, resource.name, session.namespace)
    if known is not None:
        return known
    if session.arguments.output:
        return for_target(resource.ref)
    if not session.arguments.enable_type:
        raise FederationError(
            f"federatedtypeconfigs.core.kubefed.io \"{resource.name}\" not found. Consider using '--enable-type' to "
            "optionally enable type while federating the resource"
        )
    planned = await enabling.plan(client, resource.name)
    await enabling.enable(session, planned)
    return planned.config


async def _contents(session: Session, client: Client, namespace: str) -> list[tuple[TypeConfig, Object]]:
    """Return what is in a namespace and was not made by controllers, each with how it is federated."""
    skipped = ",".join(session.arguments.skip_api_resources).split(",")
    result: list[tuple[TypeConfig, Object]] = []
    for resource in await resources.preferred(client):
        if federating.is_skipped(resource, skipped):
            continue
        page = await client.list(resource.ref, namespace)
        objects = [obj for obj in page.items if not federating.is_made_by_a_controller(obj)]
        if objects:
            config = await _type_of(session, client, resource)
            result += [(config, obj) for obj in objects]
    return result


async def _create(session: Session, client: Client, config: TypeConfig, obj: Object) -> None:
    made = federating.federated_object(config, obj)
    annotations = (obj["metadata"].get("annotations") or {}).keys() - {
        "kubectl.kubernetes.io/last-applied-configuration"
    }
    if annotations:
        session.warn(
            f"Annotations defined for {config.target.kind} {obj['metadata']['name']} will not appear in the template of "
            f"the federated resource: {', '.join(sorted(annotations))}"
        )
    if not session.dry_run:
        await client.create(config.federated, made, made["metadata"].get("namespace", ""))
    session.say(
        f"{config.federated.kind.lower()}.{config.federated.group}/{made['metadata']['name']} created"
    )


def _print(session: Session, objects: list[Object]) -> None:
    session.say(text.documents(*((obj.pop("apiVersion"), obj.pop("kind"), obj) for obj in objects)))
