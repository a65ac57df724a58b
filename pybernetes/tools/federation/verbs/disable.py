"""kubefedctl disable: ends the federation of a kind."""

from __future__ import annotations

import argparse
import asyncio

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS
from pybernetes.control_plane.federation.kinds import FEDERATED_TYPE_CONFIGS
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
    client, name = await session.host(), session.arguments.name
    config = await host_objects.find_type(client, name, session.namespace)
    if config is None and not session.arguments.delete_crd:
        raise FederationError(f'federatedtypeconfigs.core.kubefed.io "{name}" not found')
    chosen = config or await _guess(session, client, name)
    if session.arguments.delete_crd:
        await _check_empty(client, chosen)
    if session.dry_run:
        session.say(f"federatedtypeconfig.core.kubefed.io/{name} deleted (dry run)")
        return
    if config is not None:
        await _stop(client, name, session.namespace)
        await client.delete(FEDERATED_TYPE_CONFIGS, name, session.namespace)
        session.say(f"federatedtypeconfig.core.kubefed.io/{name} deleted")
    if session.arguments.delete_crd:
        crd = str(chosen.federated)
        try:
            await client.delete(CUSTOM_RESOURCE_DEFINITIONS, crd)
        except NotFound:
            raise FederationError(f'customresourcedefinition "{crd}" does not exist') from None
        session.say(f"customresourcedefinition {crd} deleted")


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


async def _stop(client: Client, name: str, namespace: str) -> None:
    """Have the control plane stop the work on a kind, and wait for that if there is one."""
    made = await client.patch(FEDERATED_TYPE_CONFIGS, name, {"spec": {"propagation": "Disabled"}}, namespace)
    if "status" not in made:  # nobody has ever looked at it
        return
    try:
        async with asyncio.timeout(_STOPPED_SECONDS):
            while True:
                status = made.get("status") or {}
                seen = status.get("observedGeneration", 0) >= made["metadata"].get("generation", 0)
                if seen and status.get("propagationController") == "NotRunning":
                    return
                await asyncio.sleep(_AGAIN_SECONDS)
                made = await client.get(FEDERATED_TYPE_CONFIGS, name, namespace)
    except TimeoutError:
        raise FederationError(
            f'the sync controller of "{name}" has not stopped within {_STOPPED_SECONDS:.0f} s: is the control plane running?'
        ) from None
