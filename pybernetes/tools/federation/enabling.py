"""Federating a kind: its federated definition and its FederatedTypeConfig."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.kubeconfig import ConfigError
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES
from pybernetes.control_plane.federation import type_config
from pybernetes.control_plane.federation.federated_definition import federated_definition
from pybernetes.control_plane.federation.kinds import (
    FEDERATED_TYPE_CONFIGS,
    KUBEFED_CLUSTERS,
    TYPES_GROUP,
    TYPES_VERSION,
)
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.tools.federation import host_objects, joining, resources
from pybernetes.tools.federation.errors import FederationError
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.federation.resources import Resource
from pybernetes.tools.federation.session import Session

_SERVED_SECONDS, _AGAIN_SECONDS = 30.0, 0.05


@dataclass(frozen=True)
class Enabling:
    """What makes a kind federated."""

    config: TypeConfig
    definition: Object


async def plan(
    client: Client, name: str, *, version: str = "", group: str = TYPES_GROUP, federated_version: str = TYPES_VERSION
) -> Enabling:  # fmt: skip
    """Return what makes the kind of a name federated."""
    resource = await resources.find(client, name, version)
    return await plan_for(client, resource, type_config.for_target(resource.ref, group, federated_version))


async def plan_for(client: Client, resource: Resource, config: TypeConfig) -> Enabling:
    """Return what makes a kind federated as a config says."""
    schemas = await resources.schemas(client, resource.ref)
    return Enabling(
        config, federated_definition(config, schemas.of(resource.ref), schemas.resolve, resource.short)
    )


async def enable(session: Session, enabling: Enabling) -> None:
    """Make a kind federated, and say so."""
    client, config = await session.host(), enabling.config
    await _check(client, config, session.namespace)
    name = enabling.definition["metadata"]["name"]
    if session.dry_run:
        session.say(f"customresourcedefinition.apiextensions.k8s.io/{name} created (dry run)")
        return
    done = await host_objects.put(client, CUSTOM_RESOURCE_DEFINITIONS, enabling.definition)
    session.say(f"customresourcedefinition.apiextensions.k8s.io/{name} {done}")
    await wait_until_served(client, config)
    await _grant(session, client, config)
    done = await host_objects.put(
        client, FEDERATED_TYPE_CONFIGS, type_config.to_object(config, session.namespace)
    )
    session.say(f"federatedtypeconfig.core.kubefed.io/{config.name} {done} in namespace {session.namespace}")


async def _check(client: Client, config: TypeConfig, namespace: str) -> None:
    try:
        await client.get(NAMESPACES, namespace)
    except NotFound:
        raise FederationError(f'KubeFed system namespace "{namespace}" does not exist') from None
    for other in await host_objects.enabled_types(client, namespace):
        if other.name == config.name:
            if other.federated != config.federated:
                raise FederationError(
                    f'Federation is already enabled for "{config.name}" with federated type "{other.federated}". '
                    f'Changing the federated type to "{config.federated}" is not supported.'
                )
        elif other.federated[:3:2] == config.federated[:3:2]:
            raise FederationError(
                f'Failed to enable federation of "{config.name}" due to the FederatedTypeConfig for "{other.name}" already '
                f'referencing a federated type CRD named "{config.federated}". If these target types are distinct despite '
                f"sharing the same kind, specifying a non-default --federated-group should allow it to be enabled."
            )


async def wait_until_served(client: Client, config: TypeConfig) -> None:
    """Wait until the host serves a federated kind, a moment after its definition is there."""
    try:
        async with asyncio.timeout(_SERVED_SECONDS):
            while True:
                try:
                    await client.list_page(config.federated, limit=1)
                    return
                except NotFound:
                    await asyncio.sleep(_AGAIN_SECONDS)
    except TimeoutError:
        raise FederationError(
            f"the kind {config.federated} is not served after {_SERVED_SECONDS:.0f} s"
        ) from None


async def _grant(session: Session, client: Client, new: TypeConfig) -> None:
    """Give the control plane the rights for all kinds, a new one too, in the members whose contexts are known here."""
    types = [*await host_objects.enabled_types(client, session.namespace), new]
    limited = await host_objects.is_limited(client, session.namespace)
    host = session.arguments.host_cluster_name if "host_cluster_name" in session.arguments else ""
    for cluster in (await client.list(KUBEFED_CLUSTERS, session.namespace)).items:
        name = cluster["metadata"]["name"]
        names = Joining(name, host or session.host_context, session.namespace, limited)
        try:
            member = await session.client(session.config(name))
            await joining.grant(member, names, types)
        except (ConfigError, StatusError, OSError) as error:
            session.warn(
                f"the control plane's rights in the cluster {name} are as before ({error}): "
                f"kubefedctl join {name} --cluster-context CONTEXT --error-on-existing=false extends them"
            )
