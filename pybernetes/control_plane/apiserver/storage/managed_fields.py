"""Who set which field: the bookkeeping of writes that are not server-side apply."""

from __future__ import annotations

from typing import Any

from pybernetes.api.apply import managed_fields
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.options import WriteOptions
from pybernetes.control_plane.apiserver.storage.update_rules import UpdateRules


def update_managed_fields(
    context: ServerContext,
    resource: Resource,
    old: Object | None,
    new: Object,
    options: WriteOptions,
    subresource: str,
    reset: dict[str, Any] | None = None,
) -> None:
    """Note in the new object's managedFields what this writer set."""
    if reset is None:
        reset = UpdateRules(resource).reset
    # Upstream loses the time when the write comes from a scale.
    now = "" if subresource == "scale" else context.timestamp()
    entries = managed_fields.update(
        old, new, resource.type, manager=options.manager, api_version=resource.api_version,
        subresource=subresource, now=now, reset=reset,
    )  # fmt: skip
    if entries:
        new["metadata"]["managedFields"] = entries
    else:
        new["metadata"].pop("managedFields", None)
