"""What webhooks and policies share: plugins whose rules are objects that users register."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from pybernetes.control_plane.apiserver.admission.chain import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
    Scope,
)
from pybernetes.control_plane.apiserver.admission.dynamic.matching import is_exempt

R = TypeVar("R")


class Registered(Generic[R]):
    """Consults what is registered about every write, except about those that configure admission."""

    name: str
    scope = Scope((CREATE, UPDATE, DELETE, CONNECT), subresources=None)

    def __init__(self, current: Callable[[], list[R]], configuration: Any) -> None:
        if configuration is not None:
            raise ValueError(f"{self.name}: a configuration is not supported by this server")
        self._current = current

    def consult(self, attributes: Attributes) -> Awaitable[None] | None:
        """Asks about a write; None if there is nobody to ask."""
        found = self._current()
        if not found or is_exempt(attributes):
            return None
        return self.ask(attributes, found)

    async def ask(self, attributes: Attributes, registered: list[R]) -> None:
        """Changes or refuses the write as they say."""
        raise NotImplementedError
