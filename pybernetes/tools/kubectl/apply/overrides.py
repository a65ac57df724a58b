"""--overrides: changes to an object that a command makes, before it is sent."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.errors import CommandError

FLAGS = """
- override-type string {default} | how the overrides are meant: json, merge or strategic
- overrides string | JSON with changes to the object
"""


def apply(value: dict[str, Any], text: str, kind: str) -> dict[str, Any]:
    """Return the object with the overrides."""
    if not text:
        return value
    import json

    try:
        patch = json.loads(text)
    except ValueError:
        raise CommandError("Invalid JSON Patch") from None
    if kind not in ("", "json", "merge", "strategic"):
        raise CommandError(f"invalid override type: {kind}")
    from pybernetes.api.errors import StatusError

    try:
        if kind == "json":
            from pybernetes.api.patch.json_patch import apply as json_apply

            return json_apply(value, patch)
        if kind == "strategic":
            from pybernetes.api.patch.strategic import apply as strategic_apply
            from pybernetes.api.schema import kind_type

            group, _, version = value["apiVersion"].rpartition("/")
            return strategic_apply(value, patch, kind_type(group, version, value["kind"]))
        from pybernetes.api.patch.merge_patch import apply as merge_apply

        return merge_apply(value, patch)
    except StatusError as error:
        raise CommandError(error.message) from None
