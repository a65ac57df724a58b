"""NamespaceLifecycle: nothing is made in a namespace that is not there or is going."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, DELETE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

IMMORTAL = ("default", "kube-system", "kube-public")


class NamespaceLifecycle(Plugin):
    """The plugin."""

    name = "NamespaceLifecycle"
    order = 30
    on_by_default = True
    scope = Scope(operations=(CREATE, DELETE), subresources=None)

    def __init__(self, inputs: PluginInputs) -> None:
        self._namespaces = Lookup(inputs.context, "", "namespaces")

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse new content where there must be none, and the deletion of the system's namespaces."""
        resource = attributes.resource
        if resource.plural == "namespaces" and not resource.group:
            if attributes.operation == DELETE and attributes.name in IMMORTAL:
                raise errors.forbidden("", "namespaces", attributes.name, "this namespace may not be deleted")
            return None
        if attributes.operation != CREATE or not attributes.namespace:
            return None
        # Asking who may do what in a namespace says nothing about the namespace.
        if resource.group == "authorization.k8s.io":
            return None
        namespace = self._namespaces.get("", attributes.namespace)
        if namespace is None:
            return self._look_again(attributes)
        self._check(attributes, namespace)
        return None

    async def _look_again(self, attributes: Attributes) -> None:
        namespace = await self._namespaces.fresh("", attributes.namespace)
        if namespace is None:
            raise errors.not_found("", "namespaces", attributes.namespace)
        self._check(attributes, namespace)

    def _check(self, attributes: Attributes, namespace: Object) -> None:
        going = namespace["metadata"].get("deletionTimestamp")
        if not going and namespace.get("status", {}).get("phase") != "Terminating":
            return
        raise _terminating(attributes)


def _terminating(attributes: Attributes) -> errors.StatusError:
    """Return the refusal; a function that raised it by a name of its own would be in a ring with it."""
    name = attributes.namespace
    why = f"unable to create new content in namespace {name} because it is being terminated"
    error = attributes.forbidden(why)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {go_format.quote(name)[1:-1]} is being terminated",
        "field": "metadata.namespace",
    }
    error.details = {**(error.details or {}), "causes": [cause]}
    return error


PLUGIN = NamespaceLifecycle
