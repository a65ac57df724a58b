"""Which resource a key of the store belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.encryption.configuration import GroupResource

# What has no API of its own; upstream names it when it looks for what encrypts it.
_OWN: dict[str, GroupResource] = {
    "masterleases": ("", "apiServerIPInfo"),
    "ranges/serviceips": ("", "serviceipallocations"),
    "ranges/servicenodeports": ("", "servicenodeportallocations"),
}


class ResourcePaths:
    """Group and resource by key: built-in kinds have their own paths, custom ones their group and plural."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._paths = dict(_OWN)
        for resource in resources:
            known = self._paths.setdefault(resource.storage_path, (resource.group, resource.plural))
            if known[0] and not resource.group:  # events: the core group comes first
                self._paths[resource.storage_path] = ("", resource.plural)

    def of(self, key: str) -> GroupResource | None:
        """Return the resource of a key such as ``/registry/secrets/default/x``; None if it is of no resource."""
        parts = key.split("/", 4)
        if len(parts) < 4:
            return None
        known = self._paths.get(parts[2])
        if known is None:
            known = self._paths.get(f"{parts[2]}/{parts[3]}")
            if known is None and "." in parts[2]:
                return parts[2], parts[3]
        return known
