"""Objects of a cluster as kubeadm writes them: made, or made so again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import Kindlike, as_ref
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError

_RETRY_SECONDS = 0.5


class Objects(Protocol):
    """What phases do with a cluster."""

    async def ensure(self, kind: Kindlike, obj: Object) -> Object: ...

    async def create_once(self, kind: Kindlike, obj: Object) -> None: ...

    async def get(self, kind: Kindlike, name: str, namespace: str = "") -> Object | None: ...

    async def patch(self, kind: Kindlike, name: str, patch: Object) -> None: ...

    async def delete(self, kind: Kindlike, name: str, namespace: str = "") -> None: ...


class ClusterObjects:
    """Objects of a real cluster. What fails for want of an answer is tried again until the time is up."""

    def __init__(self, client: Client, seconds: float = 60.0) -> None:
        self.client, self._seconds = client, seconds

    async def _until(self, work: Callable[[], Any], what: str) -> Any:
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            try:
                return await work()
            except (NotFound, AlreadyExists):
                raise
            except (OSError, StatusError) as error:
                final = (
                    isinstance(error, StatusError)
                    and 400 <= error.code < 500
                    and error.code not in (403, 429)
                )
                if final or asyncio.get_running_loop().time() > deadline:
                    raise KubeadmError(f"{what}: {error}") from None
            await asyncio.sleep(_RETRY_SECONDS)

    async def ensure(self, kind: Kindlike, obj: Object) -> Object:
        """Create an object, or replace the one that is there."""
        ref = as_ref(kind)
        what = f"could not write {ref.plural} {obj['metadata']['name']!r}"
        try:
            return await self._until(lambda: self.client.create(kind, obj), what)
        except AlreadyExists:
            return await self._until(lambda: self.client.update(kind, obj), what)

    async def create_once(self, kind: Kindlike, obj: Object) -> None:
        """Create an object, and leave the one that is there."""
        # A service would be refused for its address before anybody looks whether it exists.
        if await self.get(kind, obj["metadata"]["name"], obj["metadata"].get("namespace", "")) is not None:
            return
        try:
            await self._until(
                lambda: self.client.create(kind, obj), f"could not create {obj['metadata']['name']!r}"
            )
        except AlreadyExists:
            pass

    async def get(self, kind: Kindlike, name: str, namespace: str = "") -> Object | None:
        """Return an object; None if there is none."""
        try:
            return await self._until(
                lambda: self.client.get(kind, name, namespace), f"could not read {name!r}"
            )
        except NotFound:
            return None

    async def patch(self, kind: Kindlike, name: str, patch: Object) -> None:
        """Change a part of an object of the cluster, once it is there."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            try:
                await self._until(
                    lambda: self.client.patch(kind, name, patch, type="strategic"),
                    f"could not patch {name!r}",
                )
                return
            except NotFound:
                if asyncio.get_running_loop().time() > deadline:
                    raise KubeadmError(f'timed out waiting for {as_ref(kind).plural} "{name}"') from None
                await asyncio.sleep(_RETRY_SECONDS)

    async def delete(self, kind: Kindlike, name: str, namespace: str = "") -> None:
        """Delete an object, if it is there."""
        try:
            await self._until(lambda: self.client.delete(kind, name, namespace), f"could not delete {name!r}")
        except NotFound:
            pass


class PrintedObjects:
    """Objects of a cluster that is not touched: what would be done is printed."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def _tell(
        self, action: str, kind: Kindlike, obj: Object | None, name: str = "", namespace: str = ""
    ) -> None:
        ref = as_ref(kind)
        group = f"{ref.group or 'core'}/{ref.version}"
        self._say(f'[dryrun] Would perform action {action} on resource "{ref.plural}" in API group "{group}"')
        if name:
            self._say(f'[dryrun] Resource name "{name}", namespace "{namespace}"')
        if obj is not None:
            shown = {"apiVersion": ref.api_version, "kind": ref.kind, **obj}
            if ref.plural == "secrets":
                shown = {**shown, "data": dict.fromkeys(shown.get("data") or {}, "(not shown)")}
            self._say(f"[dryrun] Attached object:\n{to_yaml(shown)}")

    async def ensure(self, kind: Kindlike, obj: Object) -> Object:
        """Print that an object would be created."""
        self._tell("CREATE", kind, obj)
        return obj

    async def create_once(self, kind: Kindlike, obj: Object) -> None:
        """Print that an object would be created."""
        self._tell("CREATE", kind, obj)

    async def get(self, kind: Kindlike, name: str, namespace: str = "") -> Object | None:
        """Print that an object would be read."""
        self._tell("GET", kind, None, name, namespace)
        return None

    async def patch(self, kind: Kindlike, name: str, patch: Object) -> None:
        """Print that an object would be changed."""
        self._tell("PATCH", kind, patch, name)

    async def delete(self, kind: Kindlike, name: str, namespace: str = "") -> None:
        """Print that an object would be deleted."""
        self._tell("DELETE", kind, None, name, namespace)


class ManifestObjects:
    """Objects that are printed as manifests, for somebody else to apply."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    async def ensure(self, kind: Kindlike, obj: Object) -> Object:
        """Print an object."""
        ref = as_ref(kind)
        self._say("---\n" + to_yaml({"apiVersion": ref.api_version, "kind": ref.kind, **obj}).rstrip())
        return obj

    async def create_once(self, kind: Kindlike, obj: Object) -> None:
        """Print an object."""
        await self.ensure(kind, obj)

    async def get(self, kind: Kindlike, name: str, namespace: str = "") -> Object | None:
        """Know of nothing that is there."""
        return None

    async def patch(self, kind: Kindlike, name: str, patch: Object) -> None:
        """Refuse: a manifest changes nothing that is there."""
        raise KubeadmError(f"{name} cannot be changed by a manifest")

    async def delete(self, kind: Kindlike, name: str, namespace: str = "") -> None:
        """Refuse: a manifest deletes nothing."""
        raise KubeadmError(f"{name} cannot be deleted by a manifest")
