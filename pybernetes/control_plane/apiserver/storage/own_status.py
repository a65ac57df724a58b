"""Statuses that the server itself writes: of FlowSchemas, APIServices and CustomResourceDefinitions."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage import deletion
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.managed_fields import update_managed_fields
from pybernetes.control_plane.apiserver.storage.modify import DELETE, KEEP, Outcome, modify
from pybernetes.control_plane.apiserver.storage.options import OURSELVES, WriteOptions
from pybernetes.control_plane.apiserver.storage.update_rules import StatusRules


async def modify_status(
    context: ServerContext,
    kind: Kind,
    key: str,
    change: Callable[[Object], Object | None],
    options: WriteOptions = OURSELVES,
) -> None:
    """Change the status of an object, if it exists; ``change`` gives a new object, or None if all is well.

    An object that is being deleted goes when the change took its last finalizer away.
    """
    reset = StatusRules(kind.resource).reset

    def with_status(old: Object | None) -> Object | Outcome:
        new = None if old is None else change(old)
        if new is None or new == old:
            return KEEP
        new["metadata"] = dict(new["metadata"])
        update_managed_fields(context, kind.resource, old, new, options, "status", reset)
        return DELETE if deletion.is_complete(new) else new

    await modify(context.store, kind, key, with_status)
