"""What is written into the host about one kind of federated objects: finalizers, statuses, complaints."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import NAMESPACES
from pybernetes.control_plane.federation import propagation
from pybernetes.control_plane.federation.controllers.ledger import Entry
from pybernetes.control_plane.federation.kinds import FINALIZER
from pybernetes.control_plane.federation.sync_plan import Action
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.lib import rfc3339
from pybernetes.runtime.runtime import Runtime

_LONGEST_MESSAGE = 768  # of what a member says, in an event


class HostWriter:
    """Writes for one sync controller."""

    def __init__(self, runtime: Runtime, config: TypeConfig) -> None:
        self._client, self._clock, self._config = runtime.client, runtime.clock, config
        self._events = runtime.recorder(f"{config.federated.kind.lower()}-controller")

    async def namespace_uid(self, obj: Object) -> str:
        """Return the uid of a federated namespace's own namespace, which is not ours to delete; empty for other kinds."""
        if not self._config.is_namespace:
            return ""
        try:
            return (await self._client.get(NAMESPACES, obj["metadata"]["name"]))["metadata"]["uid"]
        except NotFound:
            return ""

    async def set_finalizer(self, obj: Object, *, present: bool) -> None:
        """Keep an object from going before its objects in members are gone, or let it go."""
        meta = obj["metadata"]
        kept = [name for name in meta.get("finalizers") or () if name != FINALIZER]
        patch = {
            "metadata": {
                "resourceVersion": meta["resourceVersion"],
                "finalizers": [*kept, FINALIZER] if present else kept or None,
            }
        }
        await self._client.patch(self._config.federated, meta["name"], patch, meta.get("namespace", ""))

    async def write_status(
        self, obj: Object, entry: Entry, reason: str, statuses: dict[str, str], remote: dict[str, Any]
    ) -> None:
        """Write how an object does, unless that is what its status says."""
        meta = obj["metadata"]
        before = obj.get("status")
        status = propagation.merged(
            before, meta.get("generation", 0), reason, statuses, remote, updated=entry.updated,
            now=rfc3339.seconds(self._clock.now()),
        )  # fmt: skip
        if status is None:
            return
        if (before or {}).get("clusters") and "clusters" not in status:
            status["clusters"] = None
        await self._client.patch(
            self._config.federated, meta["name"], {"status": status}, meta.get("namespace", ""), subresource="status"
        )  # fmt: skip
        entry.updated = False

    def complain(self, entry: Entry, obj: Object, reason: str, text: str) -> None:
        """Record why something cannot be done, once for each version of an object."""
        said = (reason, text, str(obj["metadata"].get("generation", "")))
        if entry.told != said:
            entry.told = said
            self._events.warning(obj, reason, text)

    def failed(self, obj: Object, action: Action, target: str, cluster: str, message: str) -> None:
        """Record that something failed in a cluster."""
        verb = action.value.split()[0].capitalize()
        place = f'{self._config.target.kind} "{target}" in cluster "{cluster}"'
        text = f"Failed to {action.value} {place}: {message[:_LONGEST_MESSAGE]}"
        self._events.warning(obj, f"{verb}InClusterFailed", text)
