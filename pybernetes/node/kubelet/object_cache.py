"""The objects that a node's pods refer to, watched as long as one of them does.

A watch is a connection to the API server, and a pod can name any number of objects, which need not exist. So only so many are
watched; the others are fetched when they are needed, and again after a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client import Client, NotFound, Ref, StatusError
from pybernetes.client.refs import CONFIG_MAPS, SECRETS, SERVICES
from pybernetes.lib.clock import Clock
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.informers import Informers

Key = tuple[Ref, str, str]
_WAIT_SECONDS = 10.0
_MOST_WATCHES, _MOST_OF_POD = 1000, 50
_FRESH_SECONDS = 60.0  # for which an object that is not watched is taken to be as it was


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
        self._changed, self._clock = changed, clock
        self._pods: dict[str, set[Key]] = {}  # by uid
        self._users: dict[Key, set[str]] = {}
        self._watched: dict[Key, Informer] = {}
        self._fetched: dict[Key, tuple[float, Object | None]] = {}  # those that are not watched, and when
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
        watches = sum(key in self._watched for key in wanted)
        for key in wanted:
            self._users.setdefault(key, set()).add(uid)
            room = watches < _MOST_OF_POD and len(self._watched) < _MOST_WATCHES
            if key not in self._watched and room:
                self._watch(key)
                watches += 1

    def unregister(self, uid: str) -> None:
        """Forget a pod that is gone."""
        for key in self._pods.pop(uid, set()):
            self._let_go(uid, key)

    def _watch(self, key: Key) -> None:
        ref, namespace, name = key
        informer = self._informers.get(ref, namespace, fields=f"metadata.name={name}")
        self._watched[key] = informer
        self._fetched.pop(key, None)
        informer.add_handler(lambda old, new: self._changed(set(self._users.get(key, ()))))

    def _let_go(self, uid: str, key: Key) -> None:
        users = self._users.get(key)
        if users is None:
            return
        users.discard(uid)
        if not users:
            del self._users[key]
            self._fetched.pop(key, None)
            if key not in self._watched:
                return
            task = asyncio.ensure_future(self._informers.drop(self._watched.pop(key)))
            self._dropping.add(task)
            task.add_done_callback(self._dropping.discard)

    async def get(self, ref: Ref, namespace: str, name: str) -> Object | None:
        """Return a config map or secret that a pod refers to; None if there is none."""
        key = (ref, namespace, name)
        informer = self._watched.get(key)
        if informer is None:
            if key not in self._users:
                raise NotSynced(f"object {namespace!r}/{name!r} not registered")
            return await self._fetch(key)
        await self._synced(informer, f"{ref.kind} {namespace}/{name}")
        return informer.get(f"{namespace}/{name}")

    async def _fetch(self, key: Key) -> Object | None:
        """Return an object that is not watched."""
        now = self._clock.monotonic()
        kept = self._fetched.get(key)
        if kept is not None and now - kept[0] < _FRESH_SECONDS:
            return kept[1]
        ref, namespace, name = key
        obj: Object | None = None
        try:
            obj = await self.client.get(ref, name, namespace)
        except NotFound:
            pass
        except (StatusError, OSError) as error:
            raise NotSynced(f"failed to fetch {ref.kind} {namespace}/{name}: {error}") from None
        if key in self._users and key not in self._watched:
            self._fetched[key] = (now, obj)
        return obj

    def refresh_delay(self, uid: str) -> float | None:
        """Return the seconds until a pod's objects are to be looked at again, None if their changes are announced."""
        return None if all(key in self._watched for key in self._pods.get(uid, ())) else _FRESH_SECONDS

    async def all_services(self, *, wait: bool = True) -> list[Object]:
        """Return every service, or those that are known already: the API server may be one of the pods that wait."""
        if wait:
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
