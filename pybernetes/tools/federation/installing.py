"""Making a cluster the host of a federation: the kinds of its control plane, its settings, and the kinds that are federated."""

from __future__ import annotations

import asyncio

from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, NotFound
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES
from pybernetes.control_plane.federation.definitions import definitions
from pybernetes.control_plane.federation.kinds import CONFIG_NAME, KUBEFED_CONFIGS
from pybernetes.tools.federation import enabling, host_objects
from pybernetes.tools.federation.session import Session

# What kubefed federates from the beginning.
DEFAULT_TYPES = (
    "namespaces", "configmaps", "secrets", "serviceaccounts", "services", "deployments.apps", "replicasets.apps",
    "jobs.batch", "ingresses.networking.k8s.io", "clusterroles.rbac.authorization.k8s.io",
)  # fmt: skip
_AGAIN_SECONDS = 0.05
_SERVED_SECONDS = 30.0


async def install(client: Client, namespace: str, *, one_namespace: bool = False) -> None:
    """Install the kinds of the control plane and its settings; settings that are there stay."""
    for definition in definitions():
        await host_objects.put(client, CUSTOM_RESOURCE_DEFINITIONS, definition)
    try:
        await client.create(NAMESPACES, {"metadata": {"name": namespace}})
    except AlreadyExists:
        pass
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
    for name in names:
        await enabling.enable(session, await enabling.plan(client, name))
