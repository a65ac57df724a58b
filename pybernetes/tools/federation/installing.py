"""Making a cluster the host of a federation: the kinds of its control plane, its settings, and the kinds that are federated."""

from __future__ import annotations

import asyncio

from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, NotFound
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES
from pybernetes.control_plane.federation import type_config
from pybernetes.control_plane.federation.access import access
from pybernetes.control_plane.federation.definitions import definitions
from pybernetes.control_plane.federation.kinds import CONFIG_NAME, KUBEFED_CONFIGS
from pybernetes.tools.federation import enabling, host_objects, resources
from pybernetes.tools.federation.session import Session

# What kubefed federates from the beginning.
DEFAULT_TYPES = (
    "namespaces", "configmaps", "secrets", "serviceaccounts", "services", "deployments.apps", "replicasets.apps",
    "jobs.batch", "ingresses.networking.k8s.io", "clusterroles.rbac.authorization.k8s.io",
)  # fmt: skip
_AGAIN_SECONDS = 0.05
_SERVED_SECONDS = 30.0


async def install(client: Client, namespace: str, *, one_namespace: bool = False) -> None:
    """Install the kinds of the control plane, its rights and its settings; settings that are there stay."""
    for definition in definitions():
        await host_objects.put(client, CUSTOM_RESOURCE_DEFINITIONS, definition)
    try:
        await client.create(NAMESPACES, {"metadata": {"name": namespace}})
    except AlreadyExists:
        pass
    for kind, obj in access(namespace):
        await host_objects.put(client, kind, obj)
    config = {
        "metadata": {"name": CONFIG_NAME, "namespace": namespace},
        "spec": {"scope": "Namespaced" if one_namespace else "Cluster"},
    }
    async with asyncio.timeout(_SERVED_SECONDS):
        while True:
            try:
                await client.create(KUBEFED_CONFIGS, config, namespace)
                return
            except AlreadyExists:
                return
            except NotFound:  # a kind is served a moment after its definition is there
                await asyncio.sleep(_AGAIN_SECONDS)


async def enable_types(session: Session, names: tuple[str, ...] = DEFAULT_TYPES) -> None:
    """Federate kinds, all at once."""
    client = await session.host()
    known = await resources.preferred(client)

    async def enable(name: str) -> None:
        resource = resources.choose(known, name)
        config = type_config.for_target(resource.ref)
        await enabling.enable(session, await enabling.plan_for(client, resource, config))

    await asyncio.gather(*(enable(name) for name in names))
