"""NamespaceLifecycle: nothing is made in a namespace that is not there or is going."""

from __future__ import annotations

from pybernetes.api import errors, go
from pybernetes.control_plane.apiserver.admission.chain import Attributes
from pybernetes.control_plane.apiserver.api import Api

IMMORTAL = ("default", "kube-system", "kube-public")


class NamespaceLifecycle:
    """The plugin."""

    name = "NamespaceLifecycle"

    def __init__(self, api: Api) -> None:
        self._api = api
        self._namespaces = api.kinds.find("", "namespaces")
        # The last namespace found well, by revision: most writes in a row are to one namespace.
        self._active: tuple[str, int] = ("", -1)

    def mutate(self, attributes: Attributes) -> None:
        """Refuses new content where there must be none, and the deletion of the system's namespaces."""
        resource = attributes.resource
        if resource.plural == "namespaces" and not resource.group:
            if attributes.operation == "DELETE" and attributes.name in IMMORTAL:
                raise errors.forbidden("", "namespaces", attributes.name, "this namespace may not be deleted")
            return
        if attributes.operation != "CREATE" or not attributes.namespace:
            return
        # Asking who may do what in a namespace says nothing about the namespace.
        if resource.group == "authorization.k8s.io":
            return
        self._check(attributes)

    def _check(self, attributes: Attributes) -> None:
        namespace = attributes.namespace
        record = self._api.store.get(self._namespaces.key("", namespace))
        if record is None:
            raise errors.not_found("", "namespaces", namespace)
        if (namespace, record.revision) == self._active:
            return
        obj = self._namespaces.object(record)
        if obj.get("status", {}).get("phase") != "Terminating" and not obj["metadata"].get(
            "deletionTimestamp"
        ):
            self._active = (namespace, record.revision)
            return
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        name = attributes.name or (attributes.obj or {}).get("metadata", {}).get("name", "")
        error = errors.forbidden(attributes.resource.group, attributes.resource.plural, name, why)
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {go.quote(namespace)[1:-1]} is being terminated",
            "field": "metadata.namespace",
        }
        error.details = {**(error.details or {}), "causes": [cause]}
        raise error
