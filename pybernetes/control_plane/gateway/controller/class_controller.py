"""Accepts the GatewayClasses that name this controller."""

from __future__ import annotations

from pybernetes.control_plane.gateway import status
from pybernetes.control_plane.gateway.kinds import CONTROLLER, GATEWAY_CLASSES
from pybernetes.lib import rfc3339
from pybernetes.runtime.controller import Controller


class ClassController(Controller):
    """A key is a GatewayClass's."""

    name = "gatewayclass"
    kind = GATEWAY_CLASSES

    async def reconcile(self, key: str) -> float | None:
        """Write the status of a class that is ours."""
        class_ = self.objects.get(key)
        if class_ is None or class_["spec"]["controllerName"] != CONTROLLER:
            return None
        made = status.of_class(class_, rfc3339.seconds(self.clock.now()))
        if made != class_.get("status"):
            await self.client.update_status(GATEWAY_CLASSES, {**class_, "status": made})
        return None
