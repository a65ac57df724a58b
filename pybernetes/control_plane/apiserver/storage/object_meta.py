"""The metadata of objects that are written: what the server decides, and what a client may not change."""

from __future__ import annotations

import re

import orjson

from pybernetes.api import errors
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks
from pybernetes.api.validation import meta as meta_rules
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.lib.random_uuid import random_uuid

_DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may "
    "reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
_NUMBER = re.compile(r"[0-9]{1,20}")
_KEPT = (
    "uid", "creationTimestamp", "generation", "resourceVersion", "selfLink", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip


def settle_namespace(kind: Kind, metadata: Object, namespace: str) -> None:
    """Put an object into the namespace of the request, if its kind has namespaces; 400 if it names another."""
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


def fill_metadata(kind: Kind, metadata: Object, namespace: str, now: str) -> None:
    """Give a new object its identity, and drop what only the server may set."""
    settle_namespace(kind, metadata, namespace)
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"):
        metadata.pop(key, None)
    metadata["uid"] = random_uuid()
    metadata["creationTimestamp"] = now


def refuse_version(metadata: Object) -> None:
    """Refuse an object to be stored as new that has a version already: the last look, after all that may deny it."""
    given = metadata.pop("resourceVersion", "")
    # What is no number, upstream does not notice; what is one, it has no better code for.
    if _NUMBER.fullmatch(given) and 0 < int(given) < 2**64:
        raise errors.StatusError(500, "", "resourceVersion should not be set on objects to be created")


def require_identity(kind: Kind, metadata: Object, namespace: str) -> None:
    """Refuse a new object that has lost what the server gave it, or is of another namespace than the request."""
    if not metadata.get("uid") or not metadata.get("creationTimestamp"):
        raise errors.internal("system metadata was not initialized")
    settle_namespace(kind, metadata, namespace)


def drop_duplicate_owners(metadata: Object, request: Request) -> None:
    """Drop owners that are there twice, and warn."""
    owners = metadata.get("ownerReferences", ())
    if len({owner.get("uid") for owner in owners}) == len(owners):
        return
    texts = (orjson.dumps(owner, option=orjson.OPT_SORT_KEYS) for owner in owners)
    repeated = set(checks.repetitions(texts))
    duplicates = [owner.get("uid", "") for index, owner in enumerate(owners) if index in repeated]
    if duplicates:
        metadata["ownerReferences"] = [owner for index, owner in enumerate(owners) if index not in repeated]
        request.warn(_DUPLICATE_OWNERS + ", ".join(duplicates))


def keep_identity(kind: Kind, new: Object, old: Object, request: Request) -> None:
    """Put back what an update cannot change; 409 if the client meant another version or another object."""
    resource, name = kind.resource, request.request_info.name
    after, before = new["metadata"], old["metadata"]
    settle_namespace(kind, after, before.get("namespace", ""))
    given = after.get("resourceVersion", "")
    if given and given != "0" and given != before["resourceVersion"]:
        raise errors.modified(resource.group, resource.plural, name)
    if after.get("uid") and after["uid"] != before.get("uid"):
        # An update says which object it means; a patch tries to make it another.
        if request.request_info.verb == "patch":
            problems = Errors()
            problems.invalid("metadata.uid", after["uid"], meta_rules.IMMUTABLE)
            raise errors.invalid(resource.group, resource.kind, name, problems)
        why = f"Precondition failed: UID in precondition: {after['uid']}, UID in object meta: {before.get('uid', '')}"
        raise errors.conflict(resource.group, resource.plural, name, why)
    for field_name in _KEPT:
        if field_name in before:
            after[field_name] = before[field_name]
        else:
            after.pop(field_name, None)
