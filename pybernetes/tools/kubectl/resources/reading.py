"""Reading an object that somebody named."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.connection.client import quote
from pybernetes.tools.kubectl.errors import ApiError, not_found

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.connection.client import Client
    from pybernetes.tools.kubectl.resources.discovery import Resource


def read(client: Client, resource: Resource, namespace: str, name: str, **options: Any) -> Object:
    """Return an object; if there is none because its namespace does not exist, the error says that."""
    try:
        return client.get(resource, namespace, name, **options)
    except ApiError as error:
        if not_found(error) and namespace not in ("", "default"):
            _check_namespace(client, namespace)
        raise


def _check_namespace(client: Client, name: str) -> None:
    try:
        client.json("GET", f"/api/v1/namespaces/{quote(name)}")
    except ApiError as error:
        if not_found(error):
            raise
