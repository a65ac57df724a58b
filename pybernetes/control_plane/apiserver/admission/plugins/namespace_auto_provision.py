"""NamespaceAutoProvision: makes the namespace of the first object that is to be in it."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.control_plane.apiserver.storage.ensure import ensure


class NamespaceAutoProvision(Plugin):
    """The plugin."""

    name = "NamespaceAutoProvision"
    order = 20
    scope = Scope(operations=(CREATE,), subresources=None)

    def __init__(self, inputs: PluginInputs) -> None:
        self._context = inputs.context
        self._namespaces = Lookup(inputs.context, "", "namespaces")

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Make the namespace, unless it is there."""
        resource, namespace = attributes.resource, attributes.namespace
        if attributes.dry_run or not namespace or (resource.plural == "namespaces" and not resource.group):
            return None
        return None if self._namespaces.get("", namespace) is not None else self._make(namespace)

    async def _make(self, namespace: str) -> None:
        await ensure(self._context, "", "namespaces", "", {"metadata": {"name": namespace}})


PLUGIN = NamespaceAutoProvision
