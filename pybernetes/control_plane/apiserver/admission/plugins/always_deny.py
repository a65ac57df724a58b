"""AlwaysDeny: refuses everything, for tests of what depends on refusals."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.admission.chain import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
    Scope,
)
from pybernetes.control_plane.apiserver.context import ServerContext


class AlwaysDeny:
    """The plugin."""

    name = "AlwaysDeny"
    scope = Scope(operations=(CREATE, UPDATE, DELETE, CONNECT), subresources=None)

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        pass

    def mutate(self, attributes: Attributes) -> None:
        """Refuses."""
        attributes.refuse("admission control is denying all modifications")


PLUGIN = AlwaysDeny
