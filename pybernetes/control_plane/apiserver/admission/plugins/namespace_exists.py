"""NamespaceExists: refuses every write in a namespace that is not there."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope


class NamespaceExists(Plugin):
    """The plugin."""

    name = "NamespaceExists"
    order = 40
    scope = Scope(operations=(CREATE, UPDATE, DELETE), subresources=None)

    def __init__(self, inputs: PluginInputs) -> None:
        self._namespaces = Lookup(inputs.context, "", "namespaces")

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse what has no namespace to be in."""
        resource = attributes.resource
        if not attributes.namespace or (resource.plural == "namespaces" and not resource.group):
            return None
        if self._namespaces.get("", attributes.namespace) is not None:
            return None
        return self._look_again(attributes.namespace)

    async def _look_again(self, namespace: str) -> None:
        if await self._namespaces.fresh("", namespace) is None:
            raise errors.not_found("", "namespaces", namespace)


PLUGIN = NamespaceExists
