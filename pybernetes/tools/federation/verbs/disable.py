"""kubefedctl disable: ends the federation of a kind."""

from __future__ import annotations

import argparse
import asyncio

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS
from pybernetes.control_plane.federation.kinds import FEDERATED_TYPE_CONFIGS, TYPES_GROUP
from pybernetes.control_plane.federation.type_config import TypeConfig, for_target
from pybernetes.tools.federation import host_objects, resources
from pybernetes.tools.federation.errors import FederationError
from pybernetes.tools.federation.session import Session
from pybernetes.tools.federation.verbs.enable import add_target

SUMMARY = "Disables propagation of a Kubernetes API type"
_STOPPED_SECONDS, _AGAIN_SECONDS = 30.0, 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("name", metavar="NAME", help="the FederatedTypeConfig, such as deployments.apps")
    add_target(parser)
    parser.add_argument(
        "--delete-crd", action="store_true", help="Whether to remove the API resource added by 'enable'."
    )


async def run(session: Session) -> None:
    """End the federation of a kind; what was carried over stays where it is."""
    arguments = session.arguments
    if not arguments.delete_crd:
        for flag, given in (
            ("version", arguments.version),
            ("federated-group", arguments.federated_group != TYPES_GROUP),
        ):
            if given:
                raise FederationError(f"--{flag} flag valid only with --delete-crd")
    client, name = await session.host(), arguments.name
    if "." not in name:  # the kind of a name with a group may be gone already
        name = (await resources.find(client, name)).name
    config = await host_objects.find_type(client, name, session.namespace)
    if config is None:
        session.say(f'FederatedTypeConfig "{session.namespace}/{name}" does not exist')
    if session.dry_run or (config is None and not arguments.delete_crd):
        return
    chosen = config or await _guess(session, client, name)
    if arguments.delete_crd:
        await _check_empty(client, chosen)
    if config is not None:
        await _stop(session, client, name)
    if arguments.delete_crd:
        crd = str(chosen.federated)
        try:
            await client.delete(CUSTOM_RESOURCE_DEFINITIONS, crd)
            session.say(f'customresourcedefinition "{crd}" deleted')
        except NotFound:
            session.say(f'customresourcedefinition "{crd}" does not exist')
    if config is not None:
        await client.delete(FEDERATED_TYPE_CONFIGS, name, session.namespace)
        session.say(f'federatedtypeconfig "{session.namespace}/{name}" deleted')


async def _guess(session: Session, client: Client, name: str) -> TypeConfig:
    resource = await resources.find(client, name, session.arguments.version)
    return for_target(resource.ref, session.arguments.federated_group)


async def _check_empty(client: Client, config: TypeConfig) -> None:
    try:
        page = await client.list_page(config.federated, limit=1)
    except NotFound:
        return
    if page.items:
        raise FederationError(
            f'Cannot delete CRD "{config.federated}" while resource instances exist. Please try kubefedctl disable again '
            "after removing the resource instances or without the '--delete-crd' option"
        )


async def _stop(session: Session, client: Client, name: str) -> None:
    """Have the control plane stop the work on a kind, and wait for that if there is one."""
    namespace, shown = session.namespace, f'FederatedTypeConfig "{session.namespace}/{name}"'
    made = await client.get(FEDERATED_TYPE_CONFIGS, name, namespace)
    if made["spec"].get("propagation") == "Enabled":
        made = await client.patch(
            FEDERATED_TYPE_CONFIGS, name, {"spec": {"propagation": "Disabled"}}, namespace
        )
        session.say(f"Disabled propagation for {shown}")
    else:
        session.say(f"Propagation already disabled for {shown}")
    if "status" not in made:  # nobody has ever looked at it
        return
    session.say(f"Verifying propagation controller is stopped for {shown}")
    try:
        async with asyncio.timeout(_STOPPED_SECONDS):
            while not _is_stopped(made):
                await asyncio.sleep(_AGAIN_SECONDS)
                made = await client.get(FEDERATED_TYPE_CONFIGS, name, namespace)
    except TimeoutError:
        raise FederationError(
            f"Unable to verify propagation controller for {shown} is stopped within {_STOPPED_SECONDS:.0f} s: "
            "is the control plane running?"
        ) from None
    session.say(f"Propagation controller for {shown} is stopped")


def _is_stopped(config: Object) -> bool:
    status = config.get("status") or {}
    seen = status.get("observedGeneration", 0) >= config["metadata"].get("generation", 0)
    return bool(seen and status.get("propagationController") == "NotRunning")
