"""The conflict that an apply gets when it would overwrite the fields of others."""

from __future__ import annotations

import orjson

from pybernetes.api.apply import elements, field_sets
from pybernetes.api.apply.field_sets import FieldSet
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

Conflict = tuple[Object, tuple[str, ...]]


def find(entries: list[Object], taken: FieldSet, version: str) -> list[Conflict]:
    """Return the fields that others own and a change takes, each with its owner."""
    conflicts = []
    for entry in sorted(entries, key=_identifier):
        if entry["apiVersion"] == version:
            both = field_sets.ordered(field_sets.intersection(entry["fieldsV1"], taken))
            conflicts += [(entry, path) for path in field_sets.paths(both)]
    return conflicts


def error(conflicts: list[Conflict]) -> StatusError:
    """Return the 409 that names every field and its owner."""
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {_owner(entry)}",
            "field": elements.text(path),
        }
        for entry, path in conflicts
    ]
    if len(conflicts) == 1:
        message = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        lines: list[str] = []
        headings = set()
        for (entry, _), cause in zip(conflicts, causes, strict=True):
            heading = f"conflicts with {_owner(entry)}:"
            if heading not in headings:
                headings.add(heading)
                lines.append(heading)
            lines.append(f"- {cause['field']}")
        message = f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
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
