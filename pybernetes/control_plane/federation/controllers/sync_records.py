"""The PropagatedVersions of a federated kind: what clusters were given, for the next leader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybernetes.api.resource import Object
from pybernetes.client.errors import AlreadyExists
from pybernetes.control_plane.federation import versions
from pybernetes.control_plane.federation.controllers.ledger import Entry
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.runtime.cache import split_key

if TYPE_CHECKING:
    from pybernetes.runtime.controller import Controller


class Records:
    """Reads and writes the records of one kind's objects."""

    def __init__(self, controller: Controller, config: TypeConfig) -> None:
        self._config, self._client = config, controller.client
        self._kind = versions.record_kind(config.federated)
        self._cache = controller.cache(self._kind)

    def _find(self, key: str) -> Object | None:
        namespace, name = split_key(key)
        record = versions.record_name(self._config.federated, self._config.target, name)
        return self._cache.get(f"{namespace}/{record}" if namespace else record)

    def recall(self, key: str, obj: Object, entry: Entry) -> None:
        """Take over what an earlier leader noted, if nothing is known of an object yet."""
        if not entry.versions and not entry.applied:
            entry.versions = versions.recorded(self._find(key), obj)

    def clusters(self, key: str, entry: Entry) -> set[str]:
        """Return the clusters that were given an object, as far as is known."""
        status = (self._find(key) or {}).get("status") or {}
        return {row["clusterName"] for row in status.get("clusterVersions") or ()} | entry.applied.keys()

    async def write(self, obj: Object, entry: Entry, selected: set[str]) -> None:
        """Note what clusters were given, unless that is noted."""
        meta = obj["metadata"]
        given = {
            name: version
            for name, version in entry.versions.items()
            if name in selected and name in entry.applied and entry.applied[name].wanted == entry.wanted(name)
        }
        status = versions.record_status(obj, given)
        namespace = meta.get("namespace", "")
        key = f"{namespace}/{meta['name']}" if namespace else meta["name"]
        record = self._find(key)
        if record is not None and record.get("status") == status:
            return
        name = versions.record_name(self._config.federated, self._config.target, meta["name"])
        federated = self._config.federated
        if record is None:
            owner = {
                "apiVersion": federated.api_version, "kind": federated.kind, "name": meta["name"], "uid": meta["uid"],
            }  # fmt: skip
            made: Object = {"metadata": {"name": name, "ownerReferences": [owner]}}
            if namespace:
                made["metadata"]["namespace"] = namespace
            try:
                await self._client.create(self._kind, made, namespace)
            except AlreadyExists:
                pass
        if "clusterVersions" not in status:
            status = {**status, "clusterVersions": None}
        await self._client.patch(self._kind, name, {"status": status}, namespace, subresource="status")
