"""The way of a changed object: identity, managed fields, admission, the checks and rules of its kind, the store."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import deletion
from pybernetes.control_plane.apiserver.storage.allocation import allocated
from pybernetes.control_plane.apiserver.storage.create import create_stored, validating, warn
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.managed_fields import update_managed_fields
from pybernetes.control_plane.apiserver.storage.modify import Transaction, transact
from pybernetes.control_plane.apiserver.storage.object_meta import drop_duplicate_owners, keep_identity
from pybernetes.control_plane.apiserver.storage.options import WriteOptions
from pybernetes.control_plane.apiserver.storage.update_rules import UpdateRules
from pybernetes.control_plane.apiserver.storage.written import Written
from pybernetes.control_plane.store.protocol import Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.discarding import discard_later
from pybernetes.lib.event_loop.off_loop import LARGE

# Gets the stored object, which it may change, and gives the new one.
Mutate = Callable[[Object], Object]


async def create_or_update(
    context: ServerContext,
    kind: Kind,
    make: Callable[[], Object],
    mutate: Mutate,
    request: Request,
    options: WriteOptions,
    *,
    keep_fields: bool = False,
) -> Written:
    """Change a stored object, or store what ``make`` gives if there is none, which takes the right to create."""
    info, store = request.request_info, context.store
    key = kind.key(info.namespace, info.name)
    if store.get(key) is not None:
        try:
            return await update_stored(context, kind, mutate, request, options, keep_fields=keep_fields)
        except errors.StatusError as error:
            if error.code != 404 or store.get(key) is not None:
                raise  # otherwise it was gone already
    await context.fresh()
    if store.get(key) is None:
        await context.require(request.user, info._replace(verb="create"))
        try:
            new = await off_loop.run(request.weight, make)
            return await create_stored(context, kind, new, request, options, keep_fields=keep_fields)
        except errors.StatusError as error:
            if error.reason != "AlreadyExists":
                raise  # otherwise somebody else was faster: what they made is changed
    return await update_stored(context, kind, mutate, request, options, keep_fields=keep_fields)


async def update_stored(
    context: ServerContext,
    kind: Kind,
    mutate: Mutate,
    request: Request,
    options: WriteOptions,
    rules: UpdateRules | None = None,
    *,
    keep_fields: bool = False,
) -> Written:
    """Change a stored object: ``mutate`` is called again if another writer was faster.

    ``keep_fields`` if the managed fields of what ``mutate`` gives are done (server-side apply).
    """
    info, resource = request.request_info, kind.resource
    rules = rules or UpdateRules(resource)
    times = context.times(kind)

    def changed(record: Record) -> tuple[Object, Object]:
        """Return the stored object and what is to become of it."""
        old = kind.object(record)
        new = mutate(kind.object(record))
        keep_identity(kind, new, old, request)
        drop_duplicate_owners(new["metadata"], request)
        if not keep_fields:
            update_managed_fields(context, resource, old, new, options, info.subresource, rules.reset)
        return old, new

    async def attempt(transaction: Transaction) -> Written:
        record = transaction.record
        if record is None:
            raise errors.not_found(resource.group, resource.plural, info.name)
        size = request.weight + len(record.value)
        if size <= LARGE:
            old, new = changed(record)
        else:
            old, new = await off_loop.run(size, changed, record)
            discard_later(size, old, new)
        attributes = context.admission.attributes("UPDATE", resource, request, new, old, options.dry_run)
        admission = time.monotonic()
        await context.admission.mutate(attributes)
        await context.check_write(kind, request, new, old)
        if size <= LARGE:
            rules.prepare(new, old)
        else:
            await off_loop.run(size, rules.prepare, new, old)
        async with allocated(context, kind, new, old, options.dry_run):
            await validating(resource)(size, rules.check, new, old)
            await context.check_write(kind, request, new, old, valid=True)
            if resource.warnings is not None:
                await off_loop.run(size, warn, resource, new, old, request)
            await context.admission.validate(attributes)
            # A write that changes nothing is judged like any other, and only then left out.
            if size <= LARGE:
                same = new == old and _sorted(new) == _sorted(old)
            else:  # beside the loop, in steps between which others have their turn: an encoding is none
                same = await off_loop.run(size, _exactly, new, old)
            if same and not kind.is_outdated(record) and not context.store.is_stale(record):
                return Written(record, new, size)
            if options.dry_run:
                return Written(None, new, size)
            if not deletion.is_complete(new):
                write = time.monotonic()
                written = Written(await transaction.write(new, size), new, size)
                if times is not None:
                    times.changed(new, request, admission, write)
                return written
            await transaction.delete()
        await deletion.after(context, kind, new)
        return Written(None, new, size)

    return await transact(context.store, kind, kind.key(info.namespace, info.name), attempt)


def _sorted(obj: Object) -> bytes:
    return orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)


def _exactly(new: Any, old: Any) -> bool:
    """Return whether objects are equal in JSON, where true is not 1 and 1.0 is not 1."""
    missing, pairs = object(), [(new, old)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if type(one) is dict:
            if len(one) != len(other):
                return False
            pairs += [(value, other.get(key, missing)) for key, value in one.items()]
        elif type(one) is list:
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif one != other or (type(one) is float and repr(one) != repr(other)):
            return False
    return True
