"""Objects that the server itself wants to exist."""

from __future__ import annotations

import uuid

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.allocation import allocated
from pybernetes.control_plane.apiserver.storage.create import prepare_create
from pybernetes.control_plane.apiserver.storage.managed_fields import update_managed_fields
from pybernetes.control_plane.apiserver.storage.modify import create_record
from pybernetes.control_plane.apiserver.storage.options import OURSELVES
from pybernetes.control_plane.store.protocol import KeyExists


async def ensure(
    context: ServerContext,
    group: str,
    plural: str,
    namespace: str,
    obj: Object,
    *,
    keep_status: bool = False,
    allocate: bool = True,
) -> None:
    """Create an object unless it exists, with its status if that is to be kept."""
    kind = context.kinds.find(group, plural)
    resource = kind.resource
    key = kind.key(namespace, obj["metadata"]["name"])
    if context.store.get(key) is not None:
        return
    obj = {"kind": resource.kind, "apiVersion": resource.api_version, **obj}
    metadata = obj["metadata"]
    if namespace:
        metadata["namespace"] = namespace
    metadata["uid"], metadata["creationTimestamp"] = str(uuid.uuid4()), context.timestamp()
    if resource.default is not None:
        resource.default(obj)
    update_managed_fields(context, resource, None, obj, OURSELVES, "")
    status = obj.get("status")
    prepare_create(resource, obj)
    if keep_status and status is not None:
        obj["status"] = status
    try:
        if not allocate:
            await create_record(context.store, kind, key, obj)
            return
        async with allocated(context, kind, obj, None, False):
            await create_record(context.store, kind, key, obj)
    except KeyExists:
        return  # another server was faster
