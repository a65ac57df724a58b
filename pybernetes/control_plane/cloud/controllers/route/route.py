"""Route: has the cloud make a way to the pods of each node, and tells nodes whether there is one."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence

from pybernetes.api.current_time import timestamp
from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import NODES
from pybernetes.control_plane.cloud.controllers._shared import CLUSTER_NAME, cloud_of, node_reference
from pybernetes.control_plane.cloud.controllers.route import route_plan
from pybernetes.control_plane.cloud.controllers.route.route_plan import Network
from pybernetes.control_plane.cloud.provider import CloudError, Route, Routes
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.controller_manager.descriptor import Descriptor
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
_ALL = "routes"  # the one key: all routes are seen together
_AT_ONCE = 200
_SYNCS = "route_controller_route_sync_total"


class RouteController(Controller):
    """Works on all routes at once: when nodes come, go or change, and from time to time."""

    name = "node-route-controller"

    def __init__(
        self, runtime: Runtime, routes: Routes, cidrs: Sequence[Network], options: Namespace
    ) -> None:
        self._routes, self._cidrs, self._cluster = routes, cidrs, options.cluster_name
        self._calls = cloud_of(options)[1]
        self._period = options.route_reconciliation_period
        self.workers = 1
        self.first_delay = self.longest_delay = self._period
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._changed = True  # whether nodes changed since the last look
        self.counts: Counter[tuple[str, str]] = Counter()
        super().__init__(runtime)
        self.cache(NODES).add_handler(self._node_changed)
        self._recorder = runtime.recorder("route_controller")
        runtime.metrics.more.append(self._write)

    async def prepare(self) -> None:
        """Look at all routes in the beginning."""
        self.enqueue(_ALL)

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        def routed(node: Object | None) -> object:
            return node and ((node.get("spec") or {}).get("podCIDRs"), route_plan.addresses_of(node))

        if routed(old) != routed(new):
            self._changed = True
            self.enqueue(_ALL)

    async def reconcile(self, key: str) -> float | None:
        """Make the cloud's routes those that the nodes need; return when to look again."""
        trigger, self._changed = ("node_change" if self._changed else "periodic"), False
        try:
            changed = await self._reconcile()
        except Exception:
            self.counts["error", trigger] += 1
            raise
        self.counts["changed" if changed else "noop", trigger] += 1
        return self._period

    async def _reconcile(self) -> bool:
        try:
            routes = await self._calls.ask("list_routes", self._routes.list(self._cluster))
        except CloudError as error:
            raise CloudError(f"error listing routes: {error}") from error
        nodes = self.cache(NODES).values()
        plan = route_plan.plan(nodes, routes, self._cidrs)
        node_by_name = {node["metadata"]["name"]: node for node in nodes}
        # Removed first: a range may go from one node to another.
        removed = await asyncio.gather(*(self._remove(route) for route in plan.remove))
        created = await asyncio.gather(
            *(self._create(hint, route, node_by_name[route.target_node]) for hint, route in plan.create)
        )
        failed = {
            route.target_node for (_, route), done in zip(plan.create, created, strict=True) if not done
        }
        for name, node in node_by_name.items():
            if (node.get("spec") or {}).get("podCIDRs"):
                await self._tell(node, name not in failed)
        if failed or not all(removed):
            raise CloudError("not all routes could be made or removed")
        return bool(plan.remove or plan.create)

    async def _remove(self, route: Route) -> bool:
        try:
            async with self._places:
                await self._calls.ask("delete_route", self._routes.delete(self._cluster, route))
        except CloudError as error:
            log.error("the route %s to %s cannot be removed: %s", route.name, route.destination, error)
            return False
        return True

    async def _create(self, hint: str, route: Route, node: Object) -> bool:
        try:
            async with self._places:
                await self._calls.ask("create_route", self._routes.create(self._cluster, hint, route))
        except CloudError as error:
            message = (
                f"Could not create route {hint} {route.destination} for node {route.target_node}: {error}"
            )
            self._recorder.warning(node_reference(node), "FailedToCreateRoute", message)
            return False
        return True

    async def _tell(self, node: Object, routed: bool) -> None:
        condition = route_plan.condition_change(node, routed)
        if condition is None:
            return
        moment = timestamp()
        condition |= {"lastTransitionTime": moment, "lastHeartbeatTime": moment}
        try:
            await self.client.patch_status(
                NODES, node["metadata"]["name"], {"status": {"conditions": [condition]}}
            )
        except NotFound:
            pass

    def _write(self, text: Exposition) -> None:
        text.family(
            _SYNCS,
            "counter",
            "A metric counting the number of route reconciles with the cloud provider, labeled by the trigger "
            "(periodic or node_change) and the outcome (error if the reconcile failed, changed if at least one route "
            "was created or deleted, otherwise noop).",
        )
        for (outcome, trigger), count in sorted(self.counts.items()):
            text.sample(_SYNCS, (("outcome", outcome), ("trigger", trigger)), count)


def build(runtime: Runtime, options: Namespace) -> RouteController | None:
    """Build the loop; return None if the cloud is to have no routes, or has none."""
    if not options.configure_cloud_routes:
        return None
    routes = cloud_of(options)[0].routes
    if routes is None:
        log.warning("--configure-cloud-routes is set, but the cloud has no routes: none are made")
        return None
    return RouteController(runtime, routes, route_plan.cluster_cidrs(options.cluster_cidr), options)


CONTROLLER = Descriptor(
    name=RouteController.name,
    aliases=("route",),
    identity="route-controller",
    flags=(
        Flag("configure-cloud-routes", True, "have the cloud make routes to the ranges of nodes"),
        Flag("cluster-cidr", "", "the range of all pods, or one of each family; routes to others are not touched"),
        Flag("route-reconciliation-period", Seconds(10), "how often the cloud's routes are looked at"),
        CLUSTER_NAME,
    ),
    build=build,
)  # fmt: skip
