"""The way of a new object: metadata, defaults, admission, the checks of its kind, validation, the store."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

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
    require_identity,
)
from pybernetes.control_plane.apiserver.storage.options import WriteOptions
from pybernetes.control_plane.apiserver.storage.written import Written
from pybernetes.control_plane.store.protocol import Damaged, KeyExists, Record

_NAME_TRIES = 8


async def create_missing(
    context: ServerContext,
    kind: Kind,
    obj: Object,
    request: Request,
    options: WriteOptions,
    *,
    keep_fields: bool = False,
) -> Written:
    """Store the object that a patch or an update found missing: who makes it needs the right to create."""
    await context.require(request.user, replace(request.request_info, verb="create"))
    return await create_stored(context, kind, obj, request, options, keep_fields=keep_fields)


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
    resource = kind.resource
    namespace = request.request_info.namespace
    fill_metadata(kind, obj["metadata"], namespace, context.timestamp())
    if resource.default is not None:
        resource.default(obj)
    metadata = obj["metadata"]
    prefix = "" if metadata.get("name") else metadata.get("generateName", "")
    drop_duplicate_owners(metadata, request)
    # What plugins add is nobody's field.
    if not keep_fields:
        update_managed_fields(context, resource, None, obj, options, "")
    attributes = context.admission.attributes("CREATE", resource, request, obj, None, options.dry_run)
    await context.admission.mutate(attributes)
    require_identity(kind, obj["metadata"], namespace)  # which a webhook may have changed
    await context.check_write(kind, request, obj, None)
    if prefix:
        obj["metadata"]["name"] = generated_name(prefix)
    if resource.early_warnings is not None:
        for text in resource.early_warnings(obj):
            request.warn(text)
    prepare_create(resource, obj)
    if resource.note_user is not None:
        resource.note_user(obj, request.user.info())
    async with allocated(context, kind, obj, None, options.dry_run):
        _validate(resource, obj)
        await context.check_write(kind, request, obj, None, valid=True)
        warn(resource, obj, None, request)
        await context.admission.validate(attributes)
        if resource.own_type is not None and resource.default is not None:
            resource.default(obj)  # the status was taken out, and may have a default
        if options.dry_run:
            return await _dry_create(context, kind, obj, namespace)
        return Written(await _store_new(context, kind, obj, namespace, bool(prefix)), obj, created=True)


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


def warn(resource: Resource, obj: Object, old: Object | None, request: Request) -> None:
    """Add the warnings that a kind has about an object to the answer."""
    if resource.warnings is not None:
        for text in resource.warnings(obj, old):
            request.warn(text)


async def _store_new(
    context: ServerContext, kind: Kind, obj: Object, namespace: str, generated: bool
) -> Record:
    """Store the object, trying other names if its own was generated and is taken."""
    resource, metadata = kind.resource, obj["metadata"]
    for attempt in range(1, _NAME_TRIES + 1):
        name = metadata["name"]
        try:
            return await create_record(context.store, kind, kind.key(namespace, name), obj)
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
        if record is not None and kind.object(record)["metadata"].get("deletionTimestamp"):
            error.message = f"object is being deleted: {error.message}"
    return error


async def _dry_create(context: ServerContext, kind: Kind, obj: Object, namespace: str) -> Written:
    await context.fresh()
    name = obj["metadata"]["name"]
    if context.store.get(kind.key(namespace, name)) is not None:
        raise errors.already_exists(kind.resource.group, kind.resource.plural, name)
    return Written(None, obj, created=True)
