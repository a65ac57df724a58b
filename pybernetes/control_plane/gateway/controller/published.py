"""What the proxy has been given: the resources of all entries together, in an order that never leaves a gap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from pybernetes.control_plane.gateway.envoy import resources as envoy_resources
from pybernetes.control_plane.gateway.envoy.messages import (
    CLUSTER,
    ENDPOINTS,
    LISTENER,
    ROUTES,
    SECRET,
    Message,
)
from pybernetes.control_plane.gateway.envoy.resources import Resources
from pybernetes.control_plane.gateway.model import Cluster
from pybernetes.control_plane.gateway.xds.server import XdsServer

_ANSWER_SECONDS = 10.0


class Published:
    """Entries in the proxy. ``endpoints`` makes the endpoints of a cluster."""

    def __init__(self, server: XdsServer, endpoints: Callable[[Cluster], Message]) -> None:
        self._server, self._endpoints = server, endpoints
        self._entries: dict[str, Resources] = {}
        self._clusters: dict[str, Cluster] = {}
        self._of_service: dict[str, set[str]] = {}
        self._turn = asyncio.Lock()

    async def set(self, name: str, wanted: Resources, clusters: Mapping[str, Cluster]) -> str:
        """Make the proxy serve an entry as wanted; return what it has against it.

        What is new and referred to comes first; then listeners and routes; what nothing refers to any more goes last.
        """
        async with self._turn:
            store = self._server.store
            self._entries[name] = wanted
            for cluster in clusters.values():
                self._clusters[cluster.name] = cluster
                self._of_service.setdefault(f"{cluster.namespace}/{cluster.service}", set()).add(cluster.name)
                store.put(ENDPOINTS, cluster.name, self._endpoints(cluster))
            for type_ in envoy_resources.REFERRED:
                for key, message in wanted[type_].items():
                    store.put(type_, key, message)
            problem = await self._wait(wanted, CLUSTER, ENDPOINTS)
            if not problem:
                for type_ in envoy_resources.REFERRING:
                    for key, message in wanted[type_].items():
                        store.put(type_, key, message)
                    self._remove_unused(type_)
                problem = await self._wait(wanted, LISTENER, ROUTES, SECRET)
            for type_ in envoy_resources.REFERRED:
                self._remove_unused(type_)
            self._server.changed()
            return problem

    async def remove(self, name: str) -> None:
        """Make the proxy serve an entry no longer."""
        if name in self._entries:
            empty: Resources = {CLUSTER: {}, SECRET: {}, LISTENER: {}, ROUTES: {}}
            await self.set(name, empty, {})
            self._entries.pop(name, None)

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

    def _remove_unused(self, type_: str) -> None:
        used = {key for wanted in self._entries.values() for key in wanted[type_]}
        store = self._server.store
        for key in [key for key in store.by_type[type_] if key not in used]:
            store.remove(type_, key)
            if type_ == CLUSTER:
                store.remove(ENDPOINTS, key)
                cluster = self._clusters.pop(key)
                self._of_service[f"{cluster.namespace}/{cluster.service}"].discard(key)
