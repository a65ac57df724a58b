"""Runs the admission plugins over a write, those that change it first, then those that only judge."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pybernetes.api.resource import Object, Resource


@dataclass(slots=True)
class Attributes:
    """A write as admission sees it. Plugins that mutate change ``obj`` in place."""

    operation: str  # CREATE, UPDATE, DELETE or CONNECT
    resource: Resource
    namespace: str
    name: str
    obj: Object | None
    old: Object | None
    user: Any = None
    subresource: str = ""
    dry_run: bool = False
    options: Any = None
    warnings: list[str] = field(default_factory=list)


class Plugin(Protocol):
    """A plugin has ``mutate(attributes)``, ``validate(attributes)`` or both; either may be a coroutine function.

    It raises StatusError to refuse.
    """

    name: str


class Chain:
    """The plugins that are switched on, in their order."""

    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = tuple(plugins)
        self._mutating: list[Any] = [plugin for plugin in plugins if hasattr(plugin, "mutate")]
        self._validating: list[Any] = [plugin for plugin in plugins if hasattr(plugin, "validate")]

    async def mutate(self, attributes: Attributes) -> None:
        """Lets every plugin change the object."""
        for plugin in self._mutating:
            result = plugin.mutate(attributes)
            if inspect.isawaitable(result):
                await result

    async def validate(self, attributes: Attributes) -> None:
        """Lets every plugin refuse the object."""
        for plugin in self._validating:
            result = plugin.validate(attributes)
            if inspect.isawaitable(result):
                await result
