"""Keeps the default roles and bindings at what they must have at least.

What is missing is made; an existing object gets the rules, subjects, labels and annotations that it lacks, and keeps
what was added to it. One with the annotation autoupdate "false" is left alone.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from pybernetes.api.apply import managed_fields
from pybernetes.api.rbac import GROUP
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authz.bootstrap_policy.defaults import AUTOUPDATE, objects
from pybernetes.control_plane.apiserver.authz.rbac.rule_cover import missing_rules
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.damage import left_alone
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import DELETE, KEEP, Outcome, modify


async def reconcile(context: ServerContext) -> None:
    """Make and complete all of them; several servers may do so at once."""
    await context.fresh()
    now = context.timestamp()
    kinds = {
        plural: context.kinds.find(GROUP, plural)
        for plural in ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
    }
    # All at once, so that the store can write them in one commit.
    await asyncio.gather(*[_ensure(context, kinds[plural], obj, now) for plural, obj in objects()])


async def _ensure(context: ServerContext, kind: Kind, wanted: Object, now: str) -> None:
    metadata = wanted["metadata"]
    key = kind.key(metadata.get("namespace", ""), metadata["name"])

    def change(existing: Object | None) -> Object | Outcome:
        if existing is None:
            return _new(kind, wanted, now)
        completion = completed(existing, wanted)
        if completion is None:
            return KEEP
        if completion is wanted:  # bound to another role, which cannot be changed: it is made anew
            return DELETE
        _own(kind, existing, completion, now)
        return completion

    with left_alone():
        if await modify(context.store, kind, key, change) is None:
            await modify(context.store, kind, key, change)


def completed(existing: Object, wanted: Object) -> Object | None:
    """Return the existing object with all that is wanted, ``wanted`` itself if it has to be made anew, or None."""
    before = existing["metadata"]
    if (before.get("annotations") or {}).get(AUTOUPDATE) == "false":
        return None
    if existing.get("roleRef") != wanted.get("roleRef"):
        return wanted
    changes: dict[str, Any] = {}
    metadata = dict(before)
    for part in ("labels", "annotations"):
        metadata[part] = {**wanted["metadata"][part], **(before.get(part) or {})}
    if metadata != before:
        changes["metadata"] = metadata
    if "rules" in wanted:
        changes |= _role_changes(existing, wanted)
    else:
        subjects = existing.get("subjects", [])
        missing = [subject for subject in wanted.get("subjects", ()) if subject not in subjects]
        if missing:
            changes["subjects"] = subjects + missing
    if not changes:
        return None
    result = {**existing, "metadata": metadata, **changes}
    return {part: value for part, value in result.items() if value is not None}


def _role_changes(existing: Object, wanted: Object) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    rules = existing.get("rules", [])
    gathers = wanted.get("aggregationRule")
    if gathers is None:
        missing = missing_rules(rules, wanted["rules"])
        if missing:
            changes["rules"] = rules + missing
        if "aggregationRule" in existing:
            changes["aggregationRule"] = None
        return changes
    # The rules of a role that gathers others are the business of the controller that gathers them.
    selectors = existing.get("aggregationRule", {}).get("clusterRoleSelectors", [])
    lacking = [selector for selector in gathers["clusterRoleSelectors"] if selector not in selectors]
    if lacking:
        changes["aggregationRule"] = {"clusterRoleSelectors": selectors + lacking}
    return changes


def _new(kind: Kind, wanted: Object, now: str) -> Object:
    resource = kind.resource
    obj = {"kind": resource.kind, "apiVersion": resource.api_version, **wanted}
    obj["metadata"] = {**wanted["metadata"], "uid": str(uuid.uuid4()), "creationTimestamp": now}
    _own(kind, None, obj, now)
    return obj


def _own(kind: Kind, old: Object | None, new: Object, now: str) -> None:
    resource = kind.resource
    entries = managed_fields.update(
        old, new, resource.type, manager="kube-apiserver", api_version=resource.api_version,
        subresource="", now=now, reset={},
    )  # fmt: skip
    new["metadata"]["managedFields"] = entries
