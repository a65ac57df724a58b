"""The way of a new object: metadata, defaults, admission, the checks of its kind, validation, the store."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from pybernetes.api import errors
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import meta as meta_rules
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.allocation import allocated
from pybernetes.control_plane.apiserver.storage.generated_names import generated_name
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.managed_fields import update_managed_fields
from pybernetes.control_plane.apiserver.storage.modify import create_record
from pybernetes.control_plane.apiserver.storage.object_meta import (
    drop_duplicate_owners,
    fill_metadata,
    refuse_version,
    require_identity,
)
from pybernetes.control_plane.apiserver.storage.options import WriteOptions
from pybernetes.control_plane.apiserver.storage.written import Written
from pybernetes.control_plane.store.protocol import Damaged, KeyExists, Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.discarding import discard_later
from pybernetes.lib.event_loop.off_loop import LARGE

_NAME_TRIES = 8


async def create_stored(
    context: ServerContext,
    kind: Kind,
    obj: Object,
    request: Request,
    options: WriteOptions,
    *,
    keep_fields: bool = False,
) -> Written:
    """Store a new object; ``keep_fields`` if its managed fields are done (server-side apply)."""
    resource, size = kind.resource, request.weight
    namespace = request.request_info.namespace
    if size <= LARGE:
        _complete(context, kind, obj, request, options, keep_fields)
    else:
        await off_loop.run(size, _complete, context, kind, obj, request, options, keep_fields)
    metadata = obj["metadata"]
    prefix = "" if metadata.get("name") else metadata.get("generateName", "")
    attributes = context.admission.attributes("CREATE", resource, request, obj, None, options.dry_run)
    admission = time.monotonic()
    await context.admission.mutate(attributes)
    require_identity(kind, obj["metadata"], namespace)  # which a webhook may have changed
    await context.check_write(kind, request, obj, None)
    if prefix:
        obj["metadata"]["name"] = generated_name(prefix)
    if size <= LARGE:
        _prepare(resource, obj, request)
    else:
        await off_loop.run(size, _prepare, resource, obj, request)
    async with allocated(context, kind, obj, None, options.dry_run):
        await validating(resource)(size, _validate, resource, obj)
        await context.check_write(kind, request, obj, None, valid=True)
        if resource.warnings is not None:
            await off_loop.run(size, warn, resource, obj, None, request)
        await context.admission.validate(attributes)
        if resource.own_type is not None and resource.default is not None:
            # The status was taken out, and may have a default.
            await off_loop.run(size, resource.default, obj)
        if options.dry_run:
            return await _dry_create(context, kind, obj, namespace, size)
        refuse_version(obj["metadata"])
        write = time.monotonic()
        record = await _store_new(context, kind, obj, namespace, bool(prefix), size)
        times = context.times(kind)
        if times is not None:
            times.created(obj, request, admission, write)
        return Written(record, obj, size, created=True)


def _complete(
    context: ServerContext,
    kind: Kind,
    obj: Object,
    request: Request,
    options: WriteOptions,
    keep_fields: bool,
) -> None:
    """Give a new object all that it has before plugins see it; what they add is nobody's field."""
    fill_metadata(kind, obj["metadata"], request.request_info.namespace, context.timestamp())
    if kind.resource.default is not None:
        kind.resource.default(obj)
    drop_duplicate_owners(obj["metadata"], request)
    if not keep_fields:
        update_managed_fields(context, kind.resource, None, obj, options, "")


def _prepare(resource: Resource, obj: Object, request: Request) -> None:
    if resource.early_warnings is not None:
        for text in resource.early_warnings(obj):
            request.warn(text)
    prepare_create(resource, obj)
    if resource.note_user is not None:
        resource.note_user(obj, request.user.info())


def prepare_create(resource: Resource, obj: Object) -> None:
    """Set what the server decides about a new object."""
    if resource.has_status and not resource.status_on_create:
        obj.pop("status", None)
    if resource.generation:
        obj["metadata"]["generation"] = 1
    if resource.prepare_create is not None:
        resource.prepare_create(obj)


def _validate(resource: Resource, obj: Object) -> None:
    """Validate a new object; 422 with every cause."""
    problems = Errors()
    meta_rules.validate(resource, obj, problems)
    if resource.validate is not None:
        resource.validate(obj, problems)
    if resource.validate_create is not None:
        resource.validate_create(obj, problems)
    if problems:
        raise errors.invalid(resource.group, resource.kind, obj["metadata"].get("name", ""), problems)


def validating(resource: Resource) -> Callable[..., Awaitable[None]]:
    """Return what runs the validation of a kind: the rules of custom resources count their steps.

    Expressions take a tenth of a millisecond each to compile, and may be as short as ``true``.
    """
    if resource.compiles:
        return _beside
    return off_loop.run if resource.own_type is None else off_loop.run_counting


async def _beside(size: int, function: Callable[..., None], *args: object) -> None:
    await off_loop.beside(function, *args)


def warn(resource: Resource, obj: Object, old: Object | None, request: Request) -> None:
    """Add the warnings that a kind has about an object to the answer."""
    if resource.warnings is not None:
        for text in resource.warnings(obj, old):
            request.warn(text)


async def _store_new(
    context: ServerContext, kind: Kind, obj: Object, namespace: str, generated: bool, size: int
) -> Record:
    """Store the object, trying other names if its own was generated and is taken."""
    resource, metadata = kind.resource, obj["metadata"]
    for attempt in range(1, _NAME_TRIES + 1):
        name = metadata["name"]
        try:
            return await create_record(context.store, kind, kind.key(namespace, name), obj, size)
        except KeyExists:
            if not generated:
                raise await _taken(context, kind, namespace, name) from None
            if attempt == _NAME_TRIES:
                raise errors.generate_name_conflict(resource.group, resource.plural, name) from None
            metadata["name"] = generated_name(metadata["generateName"])
    raise AssertionError("unreachable")


async def _taken(context: ServerContext, kind: Kind, namespace: str, name: str) -> errors.StatusError:
    """Return the error that says why a name cannot be had: the object that has it may be on its way out."""
    error = errors.already_exists(kind.resource.group, kind.resource.plural, name)
    await context.fresh()
    record = context.store.get(kind.key(namespace, name))
    with suppress(Damaged):
        if record is None:
            return error
        size = len(record.value)
        obj = await off_loop.run(size, kind.object, record)
        discard_later(size, obj)
        if obj["metadata"].get("deletionTimestamp"):
            error.message = f"object is being deleted: {error.message}"
    return error


async def _dry_create(context: ServerContext, kind: Kind, obj: Object, namespace: str, size: int) -> Written:
    await context.fresh()
    name = obj["metadata"]["name"]
    if context.store.get(kind.key(namespace, name)) is not None:
        raise errors.already_exists(kind.resource.group, kind.resource.plural, name)
    return Written(None, obj, size, created=True)
