"""The objects of a definition that is being deleted: they go first."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage import deletion
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import DeleteOptions


async def delete_all(context: ServerContext, kind: Kind) -> int:
    """Delete every object of a kind and return how many are left waiting for their finalizers."""
    records = context.store.list(kind.prefix).records
    await kind.convert(records)
    for record in records:
        if b'"deletionTimestamp"' in record.value and kind.object(record)["metadata"].get(
            "deletionTimestamp"
        ):
            continue
        try:
            name = record.key.rpartition("/")[2]
            await deletion.delete(context, kind, record.key, name, DeleteOptions())
        except errors.StatusError as error:
            if error.code != 404:
                raise
    return context.store.count(kind.prefix)
