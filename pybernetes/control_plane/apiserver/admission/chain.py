"""Runs the admission plugins over a write, those that change it first, then those that only judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from pybernetes.api import errors
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.request import Request

CREATE, UPDATE, DELETE, CONNECT = "CREATE", "UPDATE", "DELETE", "CONNECT"
_MOST_ROUTES = 10_000


def _ignore(text: str) -> None:
    """Where nobody is to be warned."""


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
    # Called with texts for the Warning headers of the answer.
    warn: Callable[[str], None] = _ignore
    # Notes for the audit log.
    annotations: dict[str, str] = field(default_factory=dict)
    # The request, for those who pass its options on.
    request: Any = None
    # Whether plugins mutate for a second time, because one of them asked for it, and what they remember of the first.
    again: bool = False
    wants_again: bool = False
    memory: dict[str, Any] | None = None

    def forbidden(self, why: str) -> StatusError:
        """The refusal of this write, in Kubernetes' words."""
        meta = self.obj.get("metadata", {}) if self.obj is not None else {}
        # A name that is yet to be generated is told by its prefix.
        name = self.name or meta.get("name") or meta.get("generateName") or "Unknown"
        return errors.forbidden(self.resource.group, self.resource.plural, name, why)

    def refuse(self, why: str) -> NoReturn:
        """Refuses this write."""
        raise self.forbidden(why)


@dataclass(frozen=True, slots=True)
class Scope:
    """The writes that a plugin is called for."""

    operations: tuple[str, ...] = (CREATE, UPDATE)
    # As messages name them: "pods", "ingresses.networking.k8s.io"; None for all.
    resources: tuple[str, ...] | None = None
    # "" is the object itself; None for all.
    subresources: tuple[str, ...] | None = ("",)

    def covers(self, operation: str, resource: str, subresource: str) -> bool:
        """Whether a write is in the scope."""
        return (
            operation in self.operations
            and (self.resources is None or resource in self.resources)
            and (self.subresources is None or subresource in self.subresources)
        )


def failure(message: str) -> StatusError:
    """What upstream answers where a plugin gives up instead of refusing."""
    return StatusError(500, "", message)


class Plugin(Protocol):
    """A plugin has ``mutate(attributes)``, ``validate(attributes)`` or both, called for what is in its scope.

    Either gives None, or an awaitable when it has to wait, and raises StatusError to refuse.
    """

    name: str
    scope: Scope


# Makes a plugin for a server.
Factory = Callable[[Any], Plugin]
Method = Callable[[Attributes], "Awaitable[None] | None"]
Methods = tuple[Method, ...]


class Chain:
    """The plugins that are switched on, in their order."""

    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = tuple(plugins)
        # What is called for each kind of write, found out once: most plugins want to see few of them.
        self._routes: dict[tuple[str, str, str, str], tuple[Methods, Methods]] = {}

    def _route(self, attributes: Attributes) -> tuple[Methods, Methods]:
        resource = attributes.resource
        key = (attributes.operation, resource.group, resource.plural, attributes.subresource)
        route = self._routes.get(key)
        if route is None:
            name = errors.qualified(resource.group, resource.plural)
            wanted = [
                plugin
                for plugin in self.plugins
                if plugin.scope.covers(attributes.operation, name, attributes.subresource)
            ]
            route = (
                tuple(plugin.mutate for plugin in wanted if hasattr(plugin, "mutate")),
                tuple(plugin.validate for plugin in wanted if hasattr(plugin, "validate")),
            )
            if len(self._routes) >= _MOST_ROUTES:
                self._routes.clear()  # of kinds that came and went
            self._routes[key] = route
        return route

    def attributes(
        self,
        operation: str,
        resource: Resource,
        request: Request,
        obj: Object | None,
        old: Object | None,
        dry_run: bool,
    ) -> Attributes:
        """Return a write as the plugins see it."""
        info = request.request_info
        name = info.name or (obj["metadata"].get("name", "") if obj else "")
        notes: dict[str, str] = {} if request.audit is None else request.audit.annotations
        return Attributes(
            operation, resource, info.namespace, name, obj, old, request.user, info.subresource, dry_run,
            warn=request.warn, annotations=notes, request=request,
        )  # fmt: skip

    async def admit(self, attributes: Attributes) -> None:
        """Let every plugin change and then refuse what is asked for."""
        await self.mutate(attributes)
        await self.validate(attributes)

    async def mutate(self, attributes: Attributes) -> None:
        """Lets every plugin change the object, twice if what came later made a change that others want to see."""
        for method in self._route(attributes)[0]:
            waiting = method(attributes)
            if waiting is not None:
                await waiting
        if attributes.wants_again and not attributes.again:
            attributes.again = True
            await self.mutate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Lets every plugin refuse the object."""
        for method in self._route(attributes)[1]:
            waiting = method(attributes)
            if waiting is not None:
                await waiting
