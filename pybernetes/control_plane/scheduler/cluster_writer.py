"""Lets plugins write through the scheduler's client."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api.resource import Object
from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.client.refs import Ref

_REFS = {str(ref): ref for ref in vars(refs).values() if isinstance(ref, Ref)}


class ClusterWriter:
    """The writer of a ``scheduling.handle.Handle``."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self, resource: str, obj: Object, namespace: str = "", *, name: str = "", subresource: str = ""
    ) -> Awaitable[Object]:
        """Create an object, or a subresource of the object of a name."""
        return self._client.create(_REFS[resource], obj, namespace, name=name, subresource=subresource)

    def update(self, resource: str, obj: Object) -> Awaitable[Object]:
        """Replace an object."""
        return self._client.update(_REFS[resource], obj)
