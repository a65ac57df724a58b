"""The kinds of the Gateway API's standard channel, one to a file, as definitions that an API server serves."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, Ref
from pybernetes.lib.discover import discover


def definitions() -> list[tuple[Ref, Object]]:
    """Return the definitions of all kinds."""
    return [(CUSTOM_RESOURCE_DEFINITIONS, made) for made in discover(__name__, "DEFINITION").values()]
