"""Server-side apply: merges a configuration into an object and works out who owns what.

The applier owns exactly what its configuration names. What it named last time and does not name now is
removed, unless somebody else owns it. A field that another writer owns and that would change is a conflict;
with force the applier takes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import orjson

from pybernetes.api.apply import conflicts, elements, field_sets, managed_fields, type_checks
from pybernetes.api.apply.field_sets import FieldSet
from pybernetes.api.apply.fields import compare, of
from pybernetes.api.apply.merge import merge, remove, with_named_fields
from pybernetes.api.errors import bad_request
from pybernetes.api.patch.merge_patch import without_nulls
from pybernetes.api.resource import Object
from pybernetes.api.schema import Type

BEFORE_FIRST_APPLY = "before-first-apply"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_ANNOTATIONS = 256 * 1024


def apply(
    live: Object | None,
    applied: Any,
    type_: Type,
    *,
    kind: str,
    api_version: str,
    manager: str,
    subresource: str = "",
    force: bool = False,
    now: str,
    reset: FieldSet | None = None,
    keep: FieldSet | None = None,
) -> tuple[Object, list[Object]]:
    """Return the object after an apply, without managedFields, and its managedFields.

    ``live`` is None when the apply creates the object. The result is neither decoded nor completed by
    defaults. Raises StatusError: 409 with every conflict, 400 for a configuration that is none.
    """
    _check(applied, type_, kind, api_version)
    claimed = _filtered(of(applied, type_), reset, keep)
    entries = (live or {}).get("metadata", {}).get("managedFields") or []
    live = None if live is None else without_nulls(_without_entries(live))
    if live is not None and not entries:
        # Nobody was tracked so far: what is there belongs to somebody whose name is unknown.
        known = managed_fields.created(live, type_, reset)
        if known:
            entries = [
                managed_fields.entry(BEFORE_FIRST_APPLY, "Update", api_version, subresource, now, known)
            ]
    owned = field_sets.ordered(field_sets.difference(claimed, managed_fields.STRIPPED))
    mine = managed_fields.entry(manager, "Apply", api_version, subresource, now, owned)
    last = next(
        (item for item in entries if managed_fields.identity(item) == managed_fields.identity(mine)), None
    )
    others = [item for item in entries if item is not last]

    result = merge(live or {}, applied, type_)
    if last is not None:
        result = _prune(result, type_, last["fieldsV1"], claimed, others)
    result = without_nulls(result)
    changes = managed_fields.difference(live or {}, result, type_, reset, keep)
    if not force:
        taken = conflicts.find(others, field_sets.union(changes.added, changes.modified), api_version)
        _allow(taken, live, type_, manager, api_version)

    others = managed_fields.release(others, changes, api_version)
    if result == live:
        mine.pop("time")
        if last is not None and "time" in last:
            mine["time"] = last["time"]
    if manager == "kubectl":
        result = _with_last_applied(result, applied)
    return _without_entries(result), managed_fields.sort([*others, mine] if mine["fieldsV1"] else others)


def _without_entries(obj: Object) -> Object:
    metadata = obj.get("metadata") or {}
    return {**obj, "metadata": {name: metadata[name] for name in metadata if name != "managedFields"}}


def _check(applied: Any, type_: Type, kind: str, api_version: str) -> None:
    """Raise BadRequest unless the configuration is one of the kind."""
    if type(applied) is not dict:
        name = {str: "string", bool: "bool", list: "array", type(None): "null"}.get(type(applied), "number")
        raise bad_request(
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{name} into Go value of type map[string]interface {{}}"
        )
    group, _, version = str(applied.get("apiVersion") or "").rpartition("/")
    given = f"{group}/{version}, Kind={applied.get('kind') or ''}"
    if (applied.get("apiVersion"), applied.get("kind")) != (api_version, kind):
        raise bad_request(f"invalid object type: {given}")
    metadata = applied.get("metadata")
    named = metadata if type(metadata) is dict else {}
    if named.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    problem = type_checks.problems(applied, type_)
    if problem:
        # Upstream answers with 500 here, as if the fault were the server's.
        where = f"{named.get('namespace') or ''}/{named.get('name') or ''}; {given}"
        raise bad_request(f"failed to create typed patch object ({where}): {problem}")


def _filtered(fields: FieldSet, reset: FieldSet | None, keep: FieldSet | None) -> FieldSet:
    if keep:
        fields = field_sets.matching(fields, keep)
    return field_sets.without(fields, reset) if reset else fields


def _prune(merged: Object, type_: Type, last: FieldSet, claimed: FieldSet, others: list[Object]) -> Object:
    """Return the object without what the applier named last time, does not name now, and nobody else owns."""
    if not field_sets.difference(last, claimed):
        return merged
    named = with_named_fields(last, type_)
    everything = with_named_fields(of(merged, type_), type_)
    owned = claimed
    for item in others:
        owned = field_sets.union(owned, item["fieldsV1"])
    pruned = remove(merged, named, type_) or {}
    left = with_named_fields(of(pruned, type_), type_)
    kept = field_sets.union(left, with_named_fields(owned, type_))
    pruned = remove(merged, field_sets.difference(everything, kept), type_) or {}
    left = with_named_fields(of(pruned, type_), type_)
    dropped = field_sets.intersection(field_sets.difference(everything, left), named)
    return remove(merged, dropped, type_) or {}


def _allow(
    taken: Iterator[conflicts.Conflict], live: Object | None, type_: Type, manager: str, api_version: str
) -> None:
    """Raise the conflicts, but for those that kubectl has with its own former client-side applies."""
    if (first := next(taken, None)) is None:
        return
    left: Iterable[conflicts.Conflict] = chain((first,), taken)
    if manager == "kubectl":
        allowed = _last_applied(live, type_, api_version)
        left = ((entry, path) for entry, path in left if not field_sets.has(allowed, *path))
    if error := conflicts.error(left):
        raise error


def _last_applied(live: Object | None, type_: Type, api_version: str) -> FieldSet:
    """Return the fields of the last client-side apply that the object still has unchanged."""
    text = ((live or {}).get("metadata", {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        last = orjson.loads(text or "")
    except orjson.JSONDecodeError:
        return {}
    if type(last) is not dict or last.get("apiVersion") != api_version or type_checks.problems(last, type_):
        return {}
    changes = compare(last, live or {}, type_)
    fields = of(last, type_)
    for changed in changes:
        fields = field_sets.difference(fields, changed)
    return fields


def _with_last_applied(result: Object, applied: Object) -> Object:
    """Return the object with kubectl's annotation brought up to date, if it has one."""
    metadata = result.get("metadata", {})
    annotations = metadata.get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return result
    config = applied
    own = (applied.get("metadata") or {}).get("annotations")
    if own is not None:
        kept = {name: value for name, value in own.items() if name != LAST_APPLIED}
        config = {**applied, "metadata": {**applied["metadata"], "annotations": kept}}
    text = orjson.dumps(config, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE).decode()
    annotations = {**annotations, LAST_APPLIED: elements.escaped(text)}
    if (
        sum(len(name.encode()) + len(value.encode()) for name, value in annotations.items())
        > _MAX_ANNOTATIONS
    ):
        del annotations[LAST_APPLIED]
    return {**result, "metadata": {**metadata, "annotations": annotations}}
