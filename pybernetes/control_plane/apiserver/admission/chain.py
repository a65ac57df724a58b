"""Runs the admission plugins over a write, those that change it first, then those that only judge."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence

from pybernetes.api import errors
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin
from pybernetes.control_plane.apiserver.admission.step_durations import BOUNDS, FIRST, StepDurations
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.forgetting import on_forget

_MOST_ROUTES = 10_000
Method = Callable[[Attributes], Awaitable[None] | None]
# A plugin's method, its name, and the counts and seconds of the times that it let pass what it was asked about.
Methods = tuple[tuple[Method, str, list[float]], ...]


class Chain:
    """The plugins that are switched on, in their order."""

    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = tuple(plugins)
        self.durations = StepDurations()
        # What is called for each kind of write, found out once: most plugins want to see few of them.
        self._routes: dict[tuple[str, str, str, str], tuple[Methods, Methods]] = {}
        on_forget(self._forget)

    def _forget(self) -> None:
        self._routes.clear()  # of kinds that came and went

    def _route(self, attributes: Attributes) -> tuple[Methods, Methods]:
        resource = attributes.resource
        key = (attributes.operation, resource.group, resource.plural, attributes.subresource)
        route = self._routes.get(key)
        if route is None:
            name = errors.qualified(resource.group, resource.plural)
            concerned = [
                plugin
                for plugin in self.plugins
                if plugin.scope.covers(attributes.operation, name, attributes.subresource)
            ]
            record = self.durations.record
            route = (
                tuple(
                    (plugin.mutate, plugin.name, record("admit", attributes.operation, False, plugin.name))
                    for plugin in concerned
                    if type(plugin).mutate is not Plugin.mutate
                ),
                tuple(
                    (
                        plugin.validate,
                        plugin.name,
                        record("validate", attributes.operation, False, plugin.name),
                    )
                    for plugin in concerned
                    if type(plugin).validate is not Plugin.validate
                ),
            )
            if len(self._routes) >= _MOST_ROUTES:
                self._forget()
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
        """Let every plugin change the object, twice if what came later made a change that others want to see."""
        begin, rejected = time.monotonic(), True
        try:
            while True:
                await self._call(self._route(attributes)[0], "admit", attributes)
                if not attributes.wants_again or attributes.again:
                    break
                attributes.again = True
            rejected = False
        finally:
            self.durations.note("admit", attributes.operation, rejected, time.monotonic() - begin)

    async def validate(self, attributes: Attributes) -> None:
        """Let every plugin refuse the object."""
        begin, rejected = time.monotonic(), True
        try:
            await self._call(self._route(attributes)[1], "validate", attributes)
            rejected = False
        finally:
            self.durations.note("validate", attributes.operation, rejected, time.monotonic() - begin)

    async def _call(self, methods: Methods, step: str, attributes: Attributes) -> None:
        """Call one plugin after the other, and note how long each took: a look at the clock and two additions."""
        monotonic = time.monotonic
        before, name = monotonic(), ""
        try:
            for method, name, record in methods:  # noqa: B007 - the handler below tells the name
                waiting = method(attributes)
                if waiting is not None:
                    await waiting
                now = monotonic()
                seconds, before = now - before, now
                record[0 if seconds <= FIRST else bisect_left(BOUNDS, seconds)] += 1
                record[-1] += seconds
        except BaseException:
            self.durations.note(step, attributes.operation, True, monotonic() - before, name)
            raise
