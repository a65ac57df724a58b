"""What an admission plugin is. Each is a file or folder in ``plugins`` with one ``PLUGIN``, its class."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from pybernetes.control_plane.store.protocol import Place
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.context import ServerContext


@dataclass(frozen=True, slots=True)
class Scope:
    """The writes that a plugin is called for."""

    operations: tuple[str, ...] = (CREATE, UPDATE)
    # As messages name them: "pods", "ingresses.networking.k8s.io"; None for all.
    resources: tuple[str, ...] | None = None
    # "" is the object itself; None for all.
    subresources: tuple[str, ...] | None = ("",)

    def covers(self, operation: str, resource: str, subresource: str) -> bool:
        """Return whether a write is in the scope."""
        return (
            operation in self.operations
            and (self.resources is None or resource in self.resources)
            and (self.subresources is None or subresource in self.subresources)
        )


@dataclass(frozen=True, slots=True)
class PluginInputs:
    """What a plugin is made from."""

    context: ServerContext
    # The plugin's part of the configuration file, decoded; None if it has none.
    configuration: Any = None
    # The command line, with the values of the plugin's flags.
    arguments: argparse.Namespace = field(default_factory=argparse.Namespace)


class Plugin:
    """The base of all plugins, which override ``mutate``, ``validate`` or both.

    Either is called for what is in the plugin's scope, gives None, or an awaitable when it has to wait, and raises
    StatusError to refuse.
    """

    name: ClassVar[str]
    # Plugins run by this number; the plugins of Kubernetes have tens in the order in which it runs them.
    order: ClassVar[int]
    on_by_default: ClassVar[bool] = False
    # Whether it reads a part of the configuration file.
    configurable: ClassVar[bool] = False
    flags: ClassVar[tuple[Flag, ...]] = ()
    scope: ClassVar[Scope]
    # Where the store keeps what decides whether it is idle.
    places: Sequence[Place] = ()

    def is_idle(self, operation: str, resource: str, subresource: str) -> bool:
        """Return whether no write of this sort, which is in the scope, concerns it: then it is not called.

        That is asked once, and again when something has changed at one of its ``places``.
        """
        return False

    def __init__(self, inputs: PluginInputs) -> None:
        """Make the plugin for one server; those that keep something override this."""

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Change or refuse a write."""

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse a write, or let it pass."""


def failure(message: str) -> StatusError:
    """Return what Kubernetes answers where a plugin gives up instead of refusing."""
    return StatusError(500, "", message)
