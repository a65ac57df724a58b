"""What translations look up, from the caches of a controller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.api.resource import Object
from pybernetes.client.refs import NAMESPACES, SECRETS, SERVICES
from pybernetes.control_plane.gateway.kinds import REFERENCE_GRANTS
from pybernetes.runtime.controller import Controller


class CacheView:
    """A cluster as a controller's caches have it."""

    def __init__(self, controller: Controller, *, grants: bool) -> None:
        self._services, self._secrets = controller.cache(SERVICES), controller.cache(SECRETS)
        self._namespaces = controller.cache(NAMESPACES)
        self._grants = controller.cache(REFERENCE_GRANTS) if grants else None

    def service(self, key: str) -> Object | None:
        """Return a Service."""
        return self._services.get(key)

    def secret(self, key: str) -> Object | None:
        """Return a Secret with a certificate."""
        return self._secrets.get(key)

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of a namespace."""
        namespace = self._namespaces.get(name)
        labels: Mapping[str, str] = (namespace or {}).get("metadata", {}).get("labels") or {}
        return labels

    def grants(self, namespace: str) -> Iterable[Object]:
        """Return the ReferenceGrants of a namespace."""
        return self._grants.in_namespace(namespace) if self._grants is not None else ()
