"""Routes of the local cloud: from the namespace of each node to the pods of every other."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.control_plane.cloud.local.machine import Machine
from pybernetes.control_plane.cloud.provider import CloudError, Route


class LocalRoutes:
    """The routes of a machine's nodes. Those of hollow nodes lead nowhere: there are no pods to be reached."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._nowhere: dict[tuple[str, str], Route] = {}

    async def list(self, cluster: str) -> Sequence[Route]:
        """Return all routes; one that a new node does not have yet is missing, so that it is made there too."""
        routes = [
            Route(route.destination, route.node, f"{route.gateway} {route.destination}", blackhole=not route.node)
            for route in await self._machine.routes()
            if route.complete or not route.node
        ]  # fmt: skip
        return [*routes, *self._nowhere.values()]

    async def create(self, cluster: str, name_hint: str, route: Route) -> None:
        """Lead a range of pods to a node."""
        instance = await self._machine.instance(route.target_node)
        if instance is None:
            raise CloudError(
                f"{route.target_node} is not a node of the local cluster {self._machine.cluster}"
            )
        if instance.addresses:
            await self._machine.route(route.destination, route.target_node)
        else:
            self._nowhere[route.target_node, route.destination] = Route(route.destination, route.target_node)

    async def delete(self, cluster: str, route: Route) -> None:
        """Remove a route."""
        if self._nowhere.pop((route.target_node, route.destination), None) is None:
            await self._machine.unroute(route.destination, route.name.partition(" ")[0])
