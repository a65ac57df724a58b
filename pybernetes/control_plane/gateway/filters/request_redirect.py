"""RequestRedirect: answers that send the client elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.filters import Filter
from pybernetes.control_plane.gateway.filters._paths import replacement
from pybernetes.control_plane.gateway.model import Changes, Redirect


def _change(config: Object, changes: Changes, _resolve: Callable[[Object], str]) -> Changes:
    redirect = Redirect(
        config.get("statusCode", 302), config.get("scheme", ""), config.get("hostname", ""), config.get("port", 0),
        replacement(config.get("path")),
    )  # fmt: skip
    return replace(changes, redirect=redirect)


FILTER = Filter("RequestRedirect", "requestRedirect", _change)
