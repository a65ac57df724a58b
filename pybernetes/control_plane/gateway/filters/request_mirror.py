"""RequestMirror: a copy of some requests for a second backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.filters import Filter
from pybernetes.control_plane.gateway.model import Changes, Mirror


def _change(config: Object, changes: Changes, resolve: Callable[[Object], str]) -> Changes:
    cluster = resolve(config["backendRef"])
    if not cluster:
        return changes  # the reason is in the route's conditions
    fraction = config.get("fraction") or {"numerator": config.get("percent", 100)}
    mirror = Mirror(cluster, fraction["numerator"], fraction.get("denominator", 100))
    return replace(changes, mirrors=(*changes.mirrors, mirror))


FILTER = Filter("RequestMirror", "requestMirror", _change)
