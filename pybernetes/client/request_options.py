"""What goes along with a request: queries, options of deletions, the kind of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pybernetes.client.refs import Kindlike, as_ref

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def namespace_of(kind: Kindlike, obj: Object) -> str:
    """Return the namespace of an object, empty if its kind has none."""
    return obj.get("metadata", {}).get("namespace", "") if kind.namespaced else ""


def complete(kind: Kindlike, obj: Object, subresource: str) -> Object:
    """Return the object with its kind and apiVersion, unless it is of another kind, as subresources are."""
    if "kind" in obj or (subresource and subresource not in ("status", "finalize", "approval")):
        return obj
    ref = as_ref(kind)
    return {"kind": ref.kind, "apiVersion": ref.api_version, **obj}


def query_text(**parameters: object) -> str:
    """Return query parameters as text, without those that are empty."""
    return urlencode([(name, value) for name, value in parameters.items() if value != ""])


def write_query(manager: str, dry_run: bool, force: bool = False) -> str:
    """Return the query of a write."""
    if not (manager or dry_run or force):
        return ""
    return query_text(fieldManager=manager, dryRun="All" if dry_run else "", force="true" if force else "")


def delete_options(
    grace: int | None, propagation: str, dry_run: bool, uid: str = "", resource_version: str = ""
) -> Object | None:
    """Return the body of a deletion, None if nothing was said about it."""
    options: Object = {}
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if propagation:
        options["propagationPolicy"] = propagation
    if dry_run:
        options["dryRun"] = ["All"]
    preconditions = {
        key: value for key, value in (("uid", uid), ("resourceVersion", resource_version)) if value
    }
    if preconditions:
        options["preconditions"] = preconditions
    return {"kind": "DeleteOptions", "apiVersion": "v1", **options} if options else None
