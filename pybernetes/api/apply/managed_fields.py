"""The managedFields of an object: one entry per writer, and what an ordinary write does to them.

A write that is no apply takes every field that it changes away from the others, and drops what it removes
from everybody. A write that changes nothing leaves the entries as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pybernetes.api.apply import created_fields, field_sets, zero_values
from pybernetes.api.apply.elements import ElementError
from pybernetes.api.apply.field_sets import LEAF, FieldSet
from pybernetes.api.apply.fields import Comparison, compare
from pybernetes.api.resource import Object
from pybernetes.api.schema import Type
from pybernetes.api.text import go_format

MAX_UPDATE_MANAGERS = 10
ANCIENT = "ancient-changes"
_STRIPPED_METADATA = frozenset(
    {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
     "resourceVersion"}
)  # fmt: skip
# Fields that nobody owns.
STRIPPED: FieldSet = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {".": LEAF, **{f"f:{name}": LEAF for name in _STRIPPED_METADATA}},
}


def update(
    live: Object | None,
    new: Object,
    type_: Type,
    *,
    manager: str,
    api_version: str,
    subresource: str = "",
    now: str,
    reset: FieldSet | None = None,
    keep: FieldSet | None = None,
) -> list[Object]:
    """Return the managedFields that an object has after a create, update or patch; ``live`` is None on create.

    ``now`` is a time as the API writes it. ``reset`` are the fields that this endpoint never changes, such
    as ``{"f:status": {}}``; ``keep``, if given, are the only ones that it changes. Call it with the new
    object completed by defaults and before admission changes it, as upstream does.
    """
    entries, given = _entries(live, new, subresource)
    if live is not None and not entries:
        return []  # nobody is tracked, and only a create or an apply starts that
    try:
        if live is None and not entries:
            mine = created(new, type_, reset)
            return [entry(manager, "Update", api_version, subresource, now, mine)] if mine else []
        changes = difference(live, new, type_, reset, keep)
    except ElementError:
        return live.get("metadata", {}).get("managedFields", []) if live else []
    mine = field_sets.union(changes.added, changes.modified)
    if not mine and not changes.removed:
        return entries if live is not None and not given else _sorted(entries)
    entries = release(entries, changes, api_version)
    if mine:
        writer = entry(manager, "Update", api_version, subresource, now, field_sets.ordered(mine))
        entries = _add(entries, writer)
    return _sorted(cap(entries))


def created(new: Object, type_: Type, reset: FieldSet | None = None) -> FieldSet:
    """Return the fields that whoever creates an object owns."""
    mine = created_fields.created(_tracked(new, reset), type_)
    return field_sets.without(mine, reset) if reset else mine


def difference(
    live: Object | None, new: Object, type_: Type, reset: FieldSet | None = None, keep: FieldSet | None = None
) -> Comparison:
    """Return what changed between two objects, without the fields that nobody owns or that the endpoint resets."""
    changes = compare(
        _tracked(zero_values.of(type_) if live is None else live, reset), _tracked(new, reset), type_
    )
    return filtered(changes, reset, keep)


def filtered(changes: Comparison, reset: FieldSet | None, keep: FieldSet | None) -> Comparison:
    """Return a comparison without the fields that the endpoint does not change."""
    if keep:
        changes = Comparison(*(field_sets.matching(fields, keep) for fields in changes))
    if reset:
        changes = Comparison(*(field_sets.without(fields, reset) for fields in changes))
    return changes


def _tracked(obj: Object, reset: FieldSet | None) -> Object:
    """Return the object without the fields that are never owned, which is cheaper than to take them out of sets."""
    result = obj.copy()
    result.pop("apiVersion", None)
    result.pop("kind", None)
    if reset:
        for element, node in reset.items():
            if not node:
                result.pop(element[2:], None)
    metadata = result.get("metadata") or {}
    result["metadata"] = {name: metadata[name] for name in metadata if name not in _STRIPPED_METADATA}
    return result


def entry(
    manager: str, operation: str, api_version: str, subresource: str, time: str | None, fields: FieldSet
) -> Object:
    """Return an entry of managedFields in the order in which the API writes it."""
    result: Object = {"manager": manager or "unknown", "operation": operation, "apiVersion": api_version}
    if time:
        result["time"] = time
    result["fieldsType"] = "FieldsV1"
    result["fieldsV1"] = fields
    if subresource:
        result["subresource"] = subresource
    return result


def identity(item: Object) -> tuple[str, str, str, str]:
    """Return what makes an entry another one: an applier is the same in every version."""
    version = "" if item["operation"] == "Apply" else item["apiVersion"]
    return item.get("manager", ""), item["operation"], version, item.get("subresource", "")


def release(entries: list[Object], changes: Comparison, version: str) -> list[Object]:
    """Return the entries without the fields that a write took over or removed; empty ones go.

    Entries of another version of the kind name fields by other paths, so they stay as they are.
    """
    taken = field_sets.union(field_sets.union(changes.added, changes.modified), changes.removed)
    result = []
    for item in entries:
        if item["apiVersion"] == version:
            left = field_sets.difference(item["fieldsV1"], taken)
            if not left:
                continue
            if left != item["fieldsV1"]:
                item = {**item, "fieldsV1": left}
        result.append(item)
    return result


def _add(entries: list[Object], writer: Object) -> list[Object]:
    """Return the entries with the writer's, joined with what it owned before."""
    same = identity(writer)
    result = []
    for item in entries:
        if identity(item) == same:
            writer["fieldsV1"] = field_sets.ordered(field_sets.union(item["fieldsV1"], writer["fieldsV1"]))
        else:
            result.append(item)
    return [*result, writer]


def cap(entries: list[Object]) -> list[Object]:
    """Keep at most ten entries of updates: join the oldest of each version into one."""
    updates = [item for item in entries if item["operation"] == "Update"]
    if len(updates) <= MAX_UPDATE_MANAGERS:
        return entries
    kept = {identity(item): item for item in entries}
    first: dict[str, Object] = {}
    count = len(updates)
    for item in sorted(updates, key=lambda item: (item.get("time", ""), go_format.value(dict(_named(item))))):
        if count <= MAX_UPDATE_MANAGERS:
            break
        version = item["apiVersion"]
        if version not in first:
            first[version] = item
            continue
        bucket = (ANCIENT, "Update", version, "")
        joined = kept.get(bucket) or kept.pop(identity(first[version]))
        kept.pop(identity(item))
        fields = field_sets.ordered(field_sets.union(item["fieldsV1"], joined["fieldsV1"]))
        kept[bucket] = entry(ANCIENT, "Update", version, "", item.get("time"), fields)
        count -= 1
    return list(kept.values())


def _named(item: Object) -> list[tuple[str, str]]:
    return [
        (name, item[name]) for name in ("manager", "operation", "apiVersion", "subresource") if name in item
    ]


def _sorted(entries: list[Object]) -> list[Object]:
    def key(item: Object) -> tuple[str, ...]:
        version, subresource = item["apiVersion"], item.get("subresource", "")
        return item["operation"], item.get("time", ""), item.get("manager", ""), version, subresource

    return sorted(entries, key=key) if len(entries) > 1 else entries


sort = _sorted


def _entries(live: Object | None, new: Object, subresource: str) -> tuple[list[Object], bool]:
    """Return the entries that a write starts from, and whether the client sent them."""
    stored = live.get("metadata", {}).get("managedFields") or [] if live else []
    sent = new.get("metadata", {}).get("managedFields")
    if subresource or sent is None or sent == stored:
        return stored, False
    if not sent or sent == [{}]:
        return [], True  # the way to clear them
    try:
        return decode(sent), True
    except ValueError:
        return stored, False


def decode(entries: Sequence[Any]) -> list[Object]:
    """Return the entries that a client sent, in clean form; ValueError says what is wrong with them."""
    clean_entries: dict[Any, Object] = {}
    for place, item in enumerate(entries):
        if item.get("operation") not in ("Apply", "Update"):
            raise ValueError("operation must be `Apply` or `Update`")
        if not item.get("apiVersion"):
            raise ValueError("apiVersion must not be empty")
        kind = item.get("fieldsType", "")
        if not kind:
            raise ValueError(f"missing fieldsType in managed fields entry {place}")
        if kind != "FieldsV1":
            raise ValueError(f"invalid fieldsType {go_format.quote(kind)} in managed fields entry {place}")
        fields = field_sets.ordered(field_sets.parse(item.get("fieldsV1") or {}))
        clean = entry(
            "-", item["operation"], item["apiVersion"], item.get("subresource", ""), item.get("time"), fields
        )
        clean["manager"] = item.get("manager", "")
        clean_entries[identity(clean)] = clean
    return list(clean_entries.values())
