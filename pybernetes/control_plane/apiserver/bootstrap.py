"""What must exist in a cluster before anyone asks: the system's namespaces."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver import writes
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.health import Health
from pybernetes.control_plane.store.protocol import KeyExists

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.server import Settings

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


async def prepare(api: Api, settings: Settings, health: Health) -> None:
    """Makes what is missing; several servers may do so at once."""
    for name in NAMESPACES:
        await ensure(api, "", "namespaces", "", {"metadata": {"name": name}})


async def ensure(api: Api, group: str, plural: str, namespace: str, obj: Object) -> None:
    """Creates an object unless it exists."""
    kind = api.kinds.find(group, plural)
    resource = kind.resource
    key = kind.key(namespace, obj["metadata"]["name"])
    if api.store.get(key) is not None:
        return
    obj = {"kind": resource.kind, "apiVersion": resource.api_version, **obj}
    metadata = obj["metadata"]
    if namespace:
        metadata["namespace"] = namespace
    metadata["uid"], metadata["creationTimestamp"] = str(uuid.uuid4()), api.timestamp()
    if resource.default is not None:
        resource.default(obj)
    writes.prepare_create(resource, obj)
    try:
        await api.store.create(key, kind.encode(obj))
    except KeyExists:
        pass
