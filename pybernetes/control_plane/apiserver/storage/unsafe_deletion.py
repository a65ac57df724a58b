"""Deleting an object that cannot be read: no preconditions, no finalizers, no admission, nothing that follows."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import Transaction, transact
from pybernetes.control_plane.store.protocol import Damaged

# What one must be allowed to do with the object, beside deleting it.
VERB = "unsafe-delete-ignore-read-errors"
_READABLE = "unsafe deletion is not allowed because the object is decodable from storage"


async def delete_unreadable(context: ServerContext, kind: Kind, key: str, name: str, dry_run: bool) -> None:
    """Delete what is at a key; 409 if it can be read, because then there is no need for this."""
    resource = kind.resource

    async def attempt(transaction: Transaction) -> None:
        if transaction.record is None:
            raise errors.not_found(resource.group, resource.plural, name)
        try:
            transaction.object()
        except Damaged:
            if not dry_run:
                await transaction.delete()
            return
        why = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {_READABLE}"
        raise errors.conflict(resource.group, resource.plural, name, why)

    await transact(context.store, kind, key, attempt)
