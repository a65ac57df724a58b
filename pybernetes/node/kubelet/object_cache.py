"""The objects that a node's pods refer to, watched as long as one of them does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client import Client, Ref
from pybernetes.client.refs import CONFIG_MAPS, SECRETS, SERVICES
from pybernetes.lib.clock import Clock
from pybernetes.runtime.informer import Informer, Informers

Key = tuple[Ref, str, str]
_WAIT_SECONDS = 10.0


class NotSynced(Exception):
    """The object could not be read in time: the API server is unreachable."""


def references(pod: Object) -> set[Key]:
    """Return the config maps and secrets that a pod names."""
    namespace, spec = pod["metadata"]["namespace"], pod["spec"]
    maps: set[str] = set()
    secrets: set[str] = {
        reference["name"] for reference in spec.get("imagePullSecrets", ()) if reference.get("name")
    }
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(group, ()):
            for source in container.get("envFrom", ()):
                maps.add((source.get("configMapRef") or {}).get("name", ""))
                secrets.add((source.get("secretRef") or {}).get("name", ""))
            for variable in container.get("env", ()):
                source = variable.get("valueFrom") or {}
                maps.add((source.get("configMapKeyRef") or {}).get("name", ""))
                secrets.add((source.get("secretKeyRef") or {}).get("name", ""))
    for volume in spec.get("volumes", ()):
        for source in (volume, *(volume.get("projected") or {}).get("sources", ())):
            maps.add((source.get("configMap") or {}).get("name", ""))
            secret = source.get("secret") or {}
            secrets.add(secret.get("secretName") or secret.get("name", ""))
    keys = {(CONFIG_MAPS, namespace, name) for name in maps if name}
    return keys | {(SECRETS, namespace, name) for name in secrets if name}


class ObjectCache:
    """Config maps, secrets and services; ``changed`` is called with the uids of the pods that refer to one."""

    def __init__(self, client: Client, clock: Clock, changed: Callable[[set[str]], None]) -> None:
        self.client = client
        self._informers = Informers(client, clock=clock)
        self._changed = changed
        self._pods: dict[str, set[Key]] = {}  # by uid
        self._users: dict[Key, set[str]] = {}
        self._watched: dict[Key, Informer] = {}
        self._dropping: set[asyncio.Task[None]] = set()
        self.services = self._informers.get(SERVICES)

    def start(self) -> None:
        """Start watching."""
        self._informers.start()

    async def stop(self) -> None:
        """End every watch."""
        await self._informers.stop()

    def register(self, pod: Object) -> None:
        """Record what a pod refers to."""
        uid = pod["metadata"]["uid"]
        wanted = references(pod)
        for key in self._pods.get(uid, set()) - wanted:
            self._let_go(uid, key)
        self._pods[uid] = wanted
        for key in wanted:
            self._users.setdefault(key, set()).add(uid)
            if key not in self._watched:
                self._watch(key)

    def unregister(self, uid: str) -> None:
        """Forget a pod that is gone."""
        for key in self._pods.pop(uid, set()):
            self._let_go(uid, key)

    def _watch(self, key: Key) -> None:
        ref, namespace, name = key
        informer = self._informers.get(ref, namespace, fields=f"metadata.name={name}")
        self._watched[key] = informer
        informer.add_handler(lambda old, new: self._changed(set(self._users.get(key, ()))))

    def _let_go(self, uid: str, key: Key) -> None:
        users = self._users.get(key)
        if users is None:
            return
        users.discard(uid)
        if not users:
            del self._users[key]
            task = asyncio.ensure_future(self._informers.drop(self._watched.pop(key)))
            self._dropping.add(task)
            task.add_done_callback(self._dropping.discard)

    async def get(self, ref: Ref, namespace: str, name: str) -> Object | None:
        """Return a config map or secret that a pod refers to; None if there is none."""
        informer = self._watched.get((ref, namespace, name))
        if informer is None:
            raise NotSynced(f"object {namespace!r}/{name!r} not registered")
        await self._synced(informer, f"{ref.kind} {namespace}/{name}")
        return informer.get(f"{namespace}/{name}")

    async def all_services(self) -> list[Object]:
        """Return every service."""
        await self._synced(self.services, "services")
        return self.services.values()

    async def _synced(self, informer: Informer, what: str) -> None:
        if informer.synced:
            return
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await informer.wait_synced()
        except TimeoutError:
            raise NotSynced(f"failed to sync {what} cache: timed out waiting for the condition") from None
