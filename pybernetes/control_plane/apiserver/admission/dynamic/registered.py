"""What webhooks and policies share: plugins whose rules are objects that users register."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from pybernetes.control_plane.apiserver.admission.attributes import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
)
from pybernetes.control_plane.apiserver.admission.dynamic.matching import is_exempt
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope
from pybernetes.control_plane.store.protocol import Place

R = TypeVar("R")


class Registered(Plugin, Generic[R]):
    """Consults what is registered about every write, except about those that configure admission."""

    scope = Scope((CREATE, UPDATE, DELETE, CONNECT), subresources=None)

    def __init__(self, current: Callable[[], list[R]], places: Sequence[Place]) -> None:
        self._current, self.places = current, places

    def is_idle(self, operation: str, resource: str, subresource: str) -> bool:
        """Return whether nothing is registered."""
        return not self._current()

    def consult(self, attributes: Attributes) -> Awaitable[None] | None:
        """Ask about a write; None if there is nobody to ask."""
        registered = self._current()
        if not registered or is_exempt(attributes):
            return None
        return self.ask(attributes, registered)

    async def ask(self, attributes: Attributes, registered: list[R]) -> None:
        """Change or refuse the write as they say."""
        raise NotImplementedError
