"""The way of every write: metadata, managed fields, admission, the guard of its kind, the rules of the kind, the store."""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.api.apply import managed_fields
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import meta as meta_rules
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import deletion
from pybernetes.control_plane.apiserver.storage.kinds import Kind
from pybernetes.control_plane.apiserver.storage.options import WriteOptions
from pybernetes.control_plane.apiserver.storage.update_rules import UpdateRules
from pybernetes.control_plane.store.protocol import Conflict, KeyExists, NotFound, Record

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
# A suffix is put together from pairs, which takes fewer steps than from letters.
_SUFFIX_PAIRS = [first + second for first in _SUFFIX_ALPHABET for second in _SUFFIX_ALPHABET]
_NAME_TRIES = 8
# Updates that lost the race against another writer this often give up and tell the client.
_CONFLICT_TRIES = 32
_DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may "
    "reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
Mutate = Callable[[Object, Record], Object]


class Written:
    """The outcome of a write: the stored record, or the object alone when nothing was stored (dry run)."""

    __slots__ = ("created", "obj", "record")

    def __init__(self, record: Record | None, obj: Object, created: bool = False) -> None:
        self.record, self.obj, self.created = record, obj, created


def random_suffix() -> str:
    """Five characters that make a generated name unique and spell no words."""
    pairs, chance = _SUFFIX_PAIRS, random.random
    one, two = int(chance() * len(pairs)), int(chance() * len(pairs))
    return pairs[one] + pairs[two] + _SUFFIX_ALPHABET[int(chance() * len(_SUFFIX_ALPHABET))]


def attributes(
    operation: str, kind: Kind, request: Request, obj: Object | None, old: Object | None, dry_run: bool
) -> Attributes:
    """The write as admission sees it."""
    info = request.request_info
    name = info.name or (obj["metadata"].get("name", "") if obj else "")
    noted: dict[str, str] = {} if request.audit is None else request.audit.annotations
    return Attributes(
        operation, kind.resource, info.namespace, name, obj, old, request.user, info.subresource, dry_run,
        warn=request.warn, annotations=noted, request=request,
    )  # fmt: skip


# -- create ----------------------------------------------------------------------------------------------


async def create(
    context: ServerContext,
    kind: Kind,
    obj: Object,
    request: Request,
    options: WriteOptions,
    *,
    keep_fields: bool = False,
) -> Written:
    """Stores a new object; ``keep_fields`` if its managed fields are done (server-side apply)."""
    resource = kind.resource
    namespace = request.request_info.namespace
    _fill_metadata(kind, obj["metadata"], namespace, context.timestamp())
    if resource.default is not None:
        resource.default(obj)
    metadata = obj["metadata"]
    generate = not metadata.get("name") and metadata.get("generateName")
    _single_owners(metadata, request)
    # What plugins add is nobody's field.
    if not keep_fields:
        own_fields(context, resource, None, obj, options, "")
    attrs = attributes("CREATE", kind, request, obj, None, options.dry_run)
    await context.admission.mutate(attrs)
    await context.guard(kind, request, obj, None)
    if generate:
        obj["metadata"]["name"] = _generated(generate)
    if resource.early_warnings is not None:
        for text in resource.early_warnings(obj):
            request.warn(text)
    prepare_create(resource, obj)
    if resource.note_user is not None:
        resource.note_user(obj, request.user.info())
    async with allocated(context, kind, obj, None, options.dry_run):
        check(resource, obj)
        await context.guard(kind, request, obj, None, valid=True)
        _warn(resource, obj, None, request)
        await context.admission.validate(attrs)
        if resource.own_type is not None and resource.default is not None:
            resource.default(obj)  # the status was taken out, and may have a default
        if options.dry_run:
            return await _dry_create(context, kind, obj, namespace)
        return Written(await _store_new(context, kind, obj, namespace, bool(generate)), obj, created=True)


@asynccontextmanager
async def allocated(
    context: ServerContext, kind: Kind, new: Object, old: Object | None, dry_run: bool
) -> AsyncIterator[None]:
    """Holds what a write takes from the pools of its kind, and gives it back if the write fails."""
    allocator = context.allocator(kind)
    if allocator is None:
        yield
        return
    allocation = await allocator.allocate(new, old, dry_run=dry_run)
    try:
        yield
    except BaseException:
        await allocation.undo()
        raise
    if not dry_run:
        await allocation.commit()


async def _store_new(
    context: ServerContext, kind: Kind, obj: Object, namespace: str, generate: bool
) -> Record:
    """Stores the object, trying other names if its own was generated and is taken."""
    resource, metadata = kind.resource, obj["metadata"]
    for attempt in range(1, _NAME_TRIES + 1):
        name = metadata["name"]
        try:
            value = await kind.seal(obj) if kind.prepares else kind.encode(obj)
            record = await context.store.create(kind.key(namespace, name), value, ttl=resource.ttl)
            if kind.prepares:
                await kind.prepare((record,))
            return record
        except KeyExists:
            if not generate:
                raise await _taken(context, kind, namespace, name) from None
            if attempt == _NAME_TRIES:
                raise errors.generate_name_conflict(resource.group, resource.plural, name) from None
            metadata["name"] = _generated(metadata["generateName"])
    raise AssertionError("unreachable")


async def _taken(context: ServerContext, kind: Kind, namespace: str, name: str) -> errors.StatusError:
    """Why a name cannot be had: the object that has it may be on its way out."""
    error = errors.already_exists(kind.resource.group, kind.resource.plural, name)
    await context.fresh()
    record = context.store.get(kind.key(namespace, name))
    if record is not None and kind.object(record)["metadata"].get("deletionTimestamp"):
        error.message = f"object is being deleted: {error.message}"
    return error


async def _dry_create(context: ServerContext, kind: Kind, obj: Object, namespace: str) -> Written:
    await context.fresh()
    name = obj["metadata"]["name"]
    if context.store.get(kind.key(namespace, name)) is not None:
        raise errors.already_exists(kind.resource.group, kind.resource.plural, name)
    return Written(None, obj, created=True)


def _generated(prefix: str) -> str:
    return prefix[:58] + random_suffix()


def settle_namespace(kind: Kind, metadata: dict[str, Any], namespace: str) -> None:
    """Puts an object where the request is for, and one whose kind has no namespaces nowhere; 400 if it says another."""
    given, wanted = metadata.get("namespace") or "", namespace if kind.namespaced else ""
    if given == wanted:
        return
    if given and wanted:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if wanted:
        metadata["namespace"] = wanted
    else:
        del metadata["namespace"]


def _fill_metadata(kind: Kind, metadata: dict[str, Any], namespace: str, now: str) -> None:
    settle_namespace(kind, metadata, namespace)
    if metadata.pop("resourceVersion", "0") != "0":
        raise errors.bad_request("resourceVersion should not be set on objects to be created")
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"):
        metadata.pop(key, None)
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = now


def prepare_create(resource: Resource, obj: Object) -> None:
    """What the server decides about a new object."""
    if resource.has_status and not resource.status_on_create:
        obj.pop("status", None)
    if resource.generation:
        obj["metadata"]["generation"] = 1
    if resource.prepare_create is not None:
        resource.prepare_create(obj)


def check(resource: Resource, obj: Object) -> None:
    """Validates a new object; 422 with every cause."""
    problems = Errors()
    meta_rules.validate(resource, obj, problems)
    if resource.validate is not None:
        resource.validate(obj, problems)
    if resource.validate_create is not None:
        resource.validate_create(obj, problems)
    if problems:
        raise errors.invalid(resource.group, resource.kind, obj["metadata"].get("name", ""), problems)


def _warn(resource: Resource, obj: Object, old: Object | None, request: Request) -> None:
    if resource.warnings is not None:
        for text in resource.warnings(obj, old):
            request.warn(text)


# -- update ----------------------------------------------------------------------------------------------


async def update(
    context: ServerContext,
    kind: Kind,
    mutate: Mutate,
    request: Request,
    options: WriteOptions,
    rules: UpdateRules | None = None,
    fields: Callable[[Object, Object], None] | None = None,
) -> Written:
    """Changes a stored object: ``mutate`` gets it and gives the new one, again if another writer was faster.

    ``fields`` replaces the bookkeeping of managed fields (server-side apply has done its own).
    """
    info = request.request_info
    key = kind.key(info.namespace, info.name)
    resource = kind.resource
    rules = rules or UpdateRules(resource)
    await context.fresh()
    for _ in range(_CONFLICT_TRIES):
        record = context.store.get(key)
        if record is None:
            raise errors.not_found(resource.group, resource.plural, info.name)
        written = await _try_update(context, kind, record, mutate, request, options, rules, fields)
        if written is not None:
            return written
        await context.fresh()
    raise errors.modified(resource.group, resource.plural, info.name)


async def _try_update(
    context: ServerContext,
    kind: Kind,
    record: Record,
    mutate: Mutate,
    request: Request,
    options: WriteOptions,
    rules: UpdateRules,
    fields: Callable[[Object, Object], None] | None,
) -> Written | None:
    """One attempt; None if another writer was faster and the client did not insist on a version."""
    resource = kind.resource
    info = request.request_info
    if kind.prepares:
        await kind.prepare((record,))
    old = kind.object(record)
    new = mutate(kind.object(record), record)
    insists = _keep_identity(kind, new, old, request)
    _single_owners(new["metadata"], request)
    if fields is None:
        own_fields(context, resource, old, new, options, info.subresource, rules.reset)
    else:
        fields(new, old)
    attrs = attributes("UPDATE", kind, request, new, old, options.dry_run)
    await context.admission.mutate(attrs)
    await context.guard(kind, request, new, old)
    rules.prepare(new, old)
    try:
        async with allocated(context, kind, new, old, options.dry_run):
            if new == old and _exactly(new, old) and not kind.is_outdated(record):
                return Written(record, new)
            rules.check(new, old)
            await context.guard(kind, request, new, old, valid=True)
            _warn(resource, new, old, request)
            await context.admission.validate(attrs)
            if options.dry_run:
                return Written(None, new)
            if not deletion.is_complete(new):
                value = await kind.seal(new) if kind.prepares else kind.encode(new)
                stored = await context.store.update(record.key, value, record.revision, ttl=resource.ttl)
                if kind.prepares:
                    await kind.prepare((stored,))
                return Written(stored, new)
            await context.store.delete(record.key, record.revision)
    except NotFound:
        raise errors.not_found(resource.group, resource.plural, info.name) from None
    except Conflict:
        if insists:
            raise errors.modified(resource.group, resource.plural, info.name) from None
        return None
    await deletion.after(context, kind, new)
    return Written(None, new)


def _exactly(new: Object, old: Object) -> bool:
    """Whether equal objects are equal in JSON too, where true is not 1 and 1.0 is not 1."""
    return orjson.dumps(new, option=orjson.OPT_SORT_KEYS) == orjson.dumps(old, option=orjson.OPT_SORT_KEYS)


def _single_owners(metadata: dict[str, Any], request: Request) -> None:
    """Drops owners that are there twice."""
    owners = metadata.get("ownerReferences", ())
    if len({owner.get("uid") for owner in owners}) == len(owners):
        return
    single: list[Object] = []
    duplicates = []
    for owner in owners:
        if owner in single:
            duplicates.append(owner.get("uid", ""))
        else:
            single.append(owner)
    if duplicates:
        metadata["ownerReferences"] = single
        request.warn(_DUPLICATE_OWNERS + ", ".join(duplicates))


def _keep_identity(kind: Kind, new: Object, old: Object, request: Request) -> bool:
    """Puts back what an update cannot change; says whether the client insisted on a version."""
    resource, name = kind.resource, request.request_info.name
    after, before = new["metadata"], old["metadata"]
    settle_namespace(kind, after, before.get("namespace", ""))
    given = after.get("resourceVersion", "")
    if given and given != "0" and given != before["resourceVersion"]:
        raise errors.modified(resource.group, resource.plural, name)
    if after.get("uid") and after["uid"] != before.get("uid"):
        if (
            request.request_info.verb == "patch"
        ):  # an update says which object it means, a patch tries to make it another
            problems = Errors()
            problems.invalid("metadata.uid", after["uid"], meta_rules.IMMUTABLE)
            raise errors.invalid(resource.group, resource.kind, name, problems)
        why = f"Precondition failed: UID in precondition: {after['uid']}, UID in object meta: {before.get('uid', '')}"
        raise errors.conflict(resource.group, resource.plural, name, why)
    for field_name in ("uid", "creationTimestamp", "generation", "resourceVersion", "selfLink"):
        if field_name in before:
            after[field_name] = before[field_name]
        else:
            after.pop(field_name, None)
    for field_name in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if field_name in before:
            after[field_name] = before[field_name]
        else:
            after.pop(field_name, None)
    return bool(given) and given != "0"


def own_fields(
    context: ServerContext,
    resource: Resource,
    old: Object | None,
    new: Object,
    options: WriteOptions,
    subresource: str,
    reset: dict[str, Any] | None = None,
) -> None:
    """Notes in managedFields what this writer set."""
    if reset is None:
        reset = UpdateRules(resource).reset
    now = (
        "" if subresource == "scale" else context.timestamp()
    )  # upstream loses the time when it comes from a scale
    entries = managed_fields.update(
        old, new, resource.type, manager=options.manager, api_version=resource.api_version,
        subresource=subresource, now=now, reset=reset,
    )  # fmt: skip
    if entries:
        new["metadata"]["managedFields"] = entries
    else:
        new["metadata"].pop("managedFields", None)
