"""AlwaysDeny: refuses everything, for tests of what depends on refusals."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.attributes import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
)
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope


class AlwaysDeny(Plugin):
    """The plugin."""

    name = "AlwaysDeny"
    order = 390
    scope = Scope(operations=(CREATE, UPDATE, DELETE, CONNECT), subresources=None)

    def mutate(self, attributes: Attributes) -> None:
        """Refuse the write."""
        attributes.refuse("admission control is denying all modifications")


PLUGIN = AlwaysDeny
