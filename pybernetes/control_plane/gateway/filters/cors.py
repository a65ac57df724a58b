"""CORS: which other sites' pages may ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.filters import Filter
from pybernetes.control_plane.gateway.model import Changes, Cors


def _change(config: Object, changes: Changes, _resolve: Callable[[Object], str]) -> Changes:
    def words(field: str) -> tuple[str, ...]:
        return tuple(config.get(field) or ())

    cors = Cors(
        words("allowOrigins"), words("allowMethods"), words("allowHeaders"), words("exposeHeaders"),
        bool(config.get("allowCredentials")), config.get("maxAge", 5),
    )  # fmt: skip
    return replace(changes, cors=cors)


FILTER = Filter("CORS", "cors", _change)
