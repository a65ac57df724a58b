"""Applies patches here, where a command does not send them to the server."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def patched(value: Object, patch: Any, kind: str) -> Object:
    """Return an object with a patch of a kind (json, merge, strategic) applied; KeyError if it has no known type."""
    from pybernetes.api.errors import StatusError

    try:
        if kind == "json":
            from pybernetes.api.patch.json_patch import DoesNotApply, check, run
            from pybernetes.api.schema.decode import json_name

            if not isinstance(patch, list):
                name = json_name(patch)
                raise CommandError(f"json: cannot unmarshal {name} into Go value of type jsonpatch.Patch")
            check(patch)
            try:
                return run(value, patch)
            except DoesNotApply as error:
                raise CommandError(str(error)) from None
        if kind == "merge":
            from pybernetes.api.patch.merge_patch import apply as merge_apply

            return merge_apply(value, patch)
        from pybernetes.api.patch.strategic import apply as strategic_apply
        from pybernetes.api.schema import kind_type

        if not isinstance(patch, dict):
            raise CommandError("invalid JSON document")
        group, _, version = value["apiVersion"].rpartition("/")
        return strategic_apply(value, patch, kind_type(group, version, value["kind"]))
    except StatusError as error:
        raise CommandError(error.message) from None
