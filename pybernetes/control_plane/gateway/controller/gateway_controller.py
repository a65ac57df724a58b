"""Keeps each Gateway of our classes in the proxy, and says in its status and in its routes' what it came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pybernetes.api.resource import Object
from pybernetes.client.refs import ENDPOINT_SLICES, NAMESPACES, SECRETS, Kindlike
from pybernetes.control_plane.gateway import gateways, status
from pybernetes.control_plane.gateway.controller import indexes
from pybernetes.control_plane.gateway.controller.cache_view import CacheView
from pybernetes.control_plane.gateway.controller.entry_controller import EntryController
from pybernetes.control_plane.gateway.kinds import (
    CONTROLLER,
    GATEWAY_CLASSES,
    GATEWAYS,
    REFERENCE_GRANTS,
    ROUTES,
)
from pybernetes.lib.event_loop import off_loop
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.controller import Mapper

_ROUTE_BYTES = 200  # that the translation of a route is worth


class GatewayController(EntryController):
    """A key is a Gateway's."""

    name = "gateway"
    kind = GATEWAYS
    indexes: ClassVar[Mapping[Kindlike, Iterable[object]]] = {  # type: ignore[assignment]
        GATEWAYS: (indexes.by_class, indexes.by_certificate),
        ENDPOINT_SLICES: (indexes.by_service_name,),
        **{kind: (indexes.by_gateway, indexes.by_backend) for kind in ROUTES},
    }

    def watches(self) -> Mapping[Kindlike, Mapper]:
        """Return everything that a Gateway, or a route to it, can refer to."""
        return {
            **super().watches(),
            **{kind: indexes.by_gateway for kind in ROUTES},
            GATEWAY_CLASSES: lambda class_: self.cache(GATEWAYS).find_keys(
                indexes.by_class, class_["metadata"]["name"]
            ),
            SECRETS: lambda secret: self.cache(GATEWAYS).find_keys(indexes.by_certificate, key_of(secret)),
            NAMESPACES: self._selecting,
            REFERENCE_GRANTS: lambda grant: list(self.cache(GATEWAYS).keys()),
        }

    def _selecting(self, _namespace: Object) -> Iterable[str]:
        """Yield the Gateways that take routes by the labels of namespaces."""
        for gateway in self.cache(GATEWAYS).values():
            for listener in gateway["spec"]["listeners"]:
                allowed = (listener.get("allowedRoutes") or {}).get("namespaces") or {}
                if allowed.get("from") == "Selector":
                    yield key_of(gateway)
                    break

    def is_mine(self, entry: str) -> bool:
        """Return whether an entry is a Gateway's."""
        return "/" in entry

    def users_of(self, service: str) -> Iterable[str]:
        """Return the Gateways whose routes name a Service."""
        return {
            key
            for kind in ROUTES
            for route in self.cache(kind).find(indexes.by_backend, service)
            for key in indexes.by_gateway(route)
        }

    async def reconcile(self, key: str) -> float | None:
        """Make proxy and statuses match a Gateway."""
        gateway = self.objects.get(key)
        if gateway is None or not self._is_ours(gateway) or "deletionTimestamp" in gateway["metadata"]:
            await self.forget(key)
            await self._tell_routes(key, {})
            return None
        routes = [
            (kind.kind, route) for kind in ROUTES for route in self.cache(kind).find(indexes.by_gateway, key)
        ]
        view = CacheView(self, grants=True)
        plan = await off_loop.run(len(routes) * _ROUTE_BYTES, gateways.translate, gateway, routes, view)
        infrastructure = gateway["spec"].get("infrastructure")
        addresses, problem = await self.serve(plan.entry, infrastructure)
        made = status.of_gateway(gateway, plan, addresses, problem, self.now)
        await self.write_status(GATEWAYS, gateway, made)
        await self._tell_routes(key, {(entry.kind, key_of(entry.route)): entry for entry in plan.routes})
        return 5.0 if problem else None

    def _is_ours(self, gateway: Object) -> bool:
        class_ = self.cache(GATEWAY_CLASSES).get(gateway["spec"]["gatewayClassName"])
        return (
            class_ is not None
            and class_["spec"]["controllerName"] == CONTROLLER
            and "parametersRef" not in class_["spec"]
        )

    async def _tell_routes(self, key: str, told: Mapping[tuple[str, str], gateways.RouteStatus]) -> None:
        """Write into each route that names a Gateway, or did, what came of it."""
        namespace, _, name = key.partition("/")
        for kind in ROUTES:
            for route in self.cache(kind).find(indexes.by_gateway, key):
                wanted = told.get((kind.kind, key_of(route)))
                made = status.of_route(route, (namespace, name), wanted, self.now)
                if made["parents"] or (route.get("status") or {}).get("parents"):
                    await self.write_status(kind, route, made)
