"""What the proxy has been given: the resources of all entries together, in an order that never leaves a gap."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from pybernetes.control_plane.gateway.envoy.messages import (
    CLUSTER,
    ENDPOINTS,
    LISTENER,
    ROUTES,
    SECRET,
    Message,
)
from pybernetes.control_plane.gateway.envoy.resources import REFERRED, REFERRING, Resources
from pybernetes.control_plane.gateway.model import Cluster
from pybernetes.control_plane.gateway.xds.server import XdsServer

_ANSWER_SECONDS = 10.0


class Published:
    """Entries in the proxy. ``endpoints`` makes the endpoints of a cluster."""

    def __init__(self, server: XdsServer, endpoints: Callable[[Cluster], Message]) -> None:
        self._server, self._endpoints = server, endpoints
        self._held: dict[str, set[tuple[str, str]]] = {}  # types and names, by entry
        self._holders: Counter[tuple[str, str]] = Counter()  # how many entries hold a resource
        self._clusters: dict[str, Cluster] = {}
        self._of_service: dict[str, set[str]] = defaultdict(set)
        self.bound: dict[str, dict[int, int]] = {}  # ports of the proxy by those of an entry, by entry
        self._turn = asyncio.Lock()

    async def set(self, name: str, wanted: Resources, clusters: Mapping[str, Cluster]) -> str:
        """Make the proxy serve an entry as wanted; return what it has against it.

        What is new and referred to comes first; then listeners and routes; what nothing refers to any more goes last, and
        not before the proxy has taken the rest.
        """
        async with self._turn:
            for cluster in clusters.values():
                self._clusters[cluster.name] = cluster
                self._of_service[f"{cluster.namespace}/{cluster.service}"].add(cluster.name)
                self._server.store.put(ENDPOINTS, cluster.name, self._endpoints(cluster))
            self._put(name, wanted, REFERRED)
            problem = await self._wait(wanted, CLUSTER, ENDPOINTS)
            if problem:
                return problem
            self._put(name, wanted, REFERRING)
            self._release(name, wanted, REFERRING)
            problem = await self._wait(wanted, LISTENER, ROUTES, SECRET)
            if not problem:
                self._release(name, wanted, REFERRED)
                self._server.changed()
            return problem

    async def remove(self, name: str) -> None:
        """Make the proxy serve an entry no longer."""
        if name in self._held:
            await self.set(name, {}, {})
            if not self._held[name]:
                del self._held[name]

    def refresh(self, service: str) -> None:
        """Give the proxy the endpoints of a Service as they are now: the one thing that changes all the time."""
        for name in self._of_service.get(service, ()):
            self._server.store.put(ENDPOINTS, name, self._endpoints(self._clusters[name]))
        self._server.changed()

    async def _wait(self, wanted: Resources, *types: str) -> str:
        self._server.changed()
        refused = await self._server.settled(*types, seconds=_ANSWER_SECONDS)
        if refused is None:
            return "the proxy has not answered"
        words = {
            text
            for type_, names in refused.items()
            for key, text in names.items()
            if key in wanted.get(type_, ())
        }
        return "; ".join(sorted(words))

    def _put(self, name: str, wanted: Resources, types: Iterable[str]) -> None:
        held = self._held.setdefault(name, set())
        for type_ in types:
            for key, message in wanted.get(type_, {}).items():
                self._server.store.put(type_, key, message)
                if (type_, key) not in held:
                    held.add((type_, key))
                    self._holders[type_, key] += 1

    def _release(self, name: str, wanted: Resources, types: Iterable[str]) -> None:
        """Let go of what an entry does not want any more; what no entry holds is removed."""
        held = self._held[name]
        for type_, key in [
            (type_, key) for type_, key in held if type_ in types and key not in wanted.get(type_, ())
        ]:
            held.discard((type_, key))
            self._holders[type_, key] -= 1
            if self._holders[type_, key]:
                continue
            del self._holders[type_, key]
            self._server.store.remove(type_, key)
            if type_ == CLUSTER:
                self._server.store.remove(ENDPOINTS, key)
                cluster = self._clusters.pop(key)
                self._of_service[f"{cluster.namespace}/{cluster.service}"].discard(key)
