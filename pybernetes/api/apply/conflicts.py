"""The conflict that an apply gets when it would overwrite the fields of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from pybernetes.api.apply import elements, field_sets
from pybernetes.api.apply.field_sets import FieldSet
from pybernetes.api.errors import StatusError
from pybernetes.api.field import MAX_ERRORS, MAX_PATHS
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

Conflict = tuple[Object, tuple[str, ...]]


def find(entries: list[Object], taken: FieldSet, version: str) -> Iterator[Conflict]:
    """Give the fields that others own and a change takes, each with its owner."""
    for entry in sorted(entries, key=_identifier):
        if entry["apiVersion"] == version:
            both = field_sets.ordered(field_sets.intersection(entry["fieldsV1"], taken))
            for path in field_sets.paths(both):
                yield entry, path


def error(conflicts: Iterable[Conflict]) -> StatusError | None:
    """Return the 409 that names every field and its owner, up to what a report may have; None without conflicts."""
    causes: list[Object] = []
    lines: list[str] = []
    headings = set()
    length = count = 0
    for entry, path in conflicts:
        count += 1
        if count > MAX_ERRORS or length > MAX_PATHS:
            continue
        owner, field = _owner(entry), elements.text(path)
        causes.append({"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": field})
        if owner not in headings:
            headings.add(owner)
            lines.append(f"conflicts with {owner}:")
        lines.append(f"- {field}")
        length += len(field)
    if not count:
        return None
    if count == 1:
        message = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        message = f"Apply failed with {count} conflicts: " + "\n".join(lines)
    return StatusError(409, "Conflict", message, {"causes": causes})


def _owner(entry: Object) -> str:
    text = go_format.quote(entry.get("manager", ""))
    if entry.get("subresource"):
        text += f" with subresource {go_format.quote(entry['subresource'])}"
    return f"{text} using {entry['apiVersion']}" if entry["operation"] == "Update" else text


def _identifier(entry: Object) -> bytes:
    """Return what upstream sorts owners by: the entry as JSON without time and fields."""
    names = ("manager", "operation", "apiVersion", "subresource")
    if entry["operation"] == "Apply":
        names = ("manager", "operation", "subresource", "subresource")
    return orjson.dumps({name: entry[name] for name in names if entry.get(name)})
