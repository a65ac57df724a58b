"""Other paths than the client asked for."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import checks
from pybernetes.control_plane.gateway.model import Replacement


def replacement(config: Object | None) -> Replacement | None:
    """Return what a path is replaced by."""
    if not config:
        return None
    is_prefix = config["type"] == "ReplacePrefixMatch"
    value = config["replacePrefixMatch" if is_prefix else "replaceFullPath"]
    # An empty text, and one without the slash, stand for the path that begins with it.
    return Replacement(checks.path(value if value.startswith("/") else f"/{value}"), is_prefix)
