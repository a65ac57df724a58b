"""NamespaceAutoProvision: makes the namespace of the first object that is to be in it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.control_plane.apiserver.admission.chain import CREATE, Attributes, Scope
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.ensure import ensure


class NamespaceAutoProvision:
    """The plugin."""

    name = "NamespaceAutoProvision"
    scope = Scope(operations=(CREATE,), subresources=None)

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        self._context = context
        self._namespaces = Lookup(context, "", "namespaces")

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Makes the namespace, unless it is there."""
        resource, namespace = attributes.resource, attributes.namespace
        if attributes.dry_run or not namespace or (resource.plural == "namespaces" and not resource.group):
            return None
        return None if self._namespaces.get("", namespace) is not None else self._make(namespace)

    async def _make(self, namespace: str) -> None:
        await ensure(self._context, "", "namespaces", "", {"metadata": {"name": namespace}})


PLUGIN = NamespaceAutoProvision
