"""NamespaceExists: refuses every write in a namespace that is not there."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.admission.chain import CREATE, DELETE, UPDATE, Attributes, Scope
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.context import ServerContext


class NamespaceExists:
    """The plugin."""

    name = "NamespaceExists"
    scope = Scope(operations=(CREATE, UPDATE, DELETE), subresources=None)

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        self._namespaces = Lookup(context, "", "namespaces")

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuses what has no namespace to be in."""
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
