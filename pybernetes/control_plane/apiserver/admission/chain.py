"""Runs the admission plugins over a write, those that change it first, then those that only judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import NamedTuple

from pybernetes.api import errors
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin
from pybernetes.control_plane.apiserver.admission.step_durations import (
    FIRST,
    StepDurations,
    StepTimings,
    Timing,
)
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.memory.forgetting import on_forget

_MOST_ROUTES = 10_000
Method = Callable[[Attributes], Awaitable[None] | None]


class _Step(NamedTuple):
    """What is called for one kind of write in one step, and what that takes."""

    calls: tuple[tuple[Method, Timing], ...]
    timings: StepTimings


_Route = tuple[_Step, _Step]


class Chain:
    """The plugins that are switched on, in their order."""

    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = tuple(plugins)
        self.durations = StepDurations()
        # What is called for each kind of write, found out once: most plugins want to see few of them.
        self._routes: dict[tuple[str, str, str, str], _Route] = {}
        on_forget(self._forget)

    def _forget(self) -> None:
        self._routes.clear()  # of kinds that came and went

    def _route(self, attributes: Attributes) -> _Route:
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
            operation = attributes.operation
            route = (
                self._step("admit", operation, [
                    (plugin.name, plugin.mutate) for plugin in concerned if type(plugin).mutate is not Plugin.mutate
                ]),
                self._step("validate", operation, [
                    (plugin.name, plugin.validate) for plugin in concerned if type(plugin).validate is not Plugin.validate
                ]),
            )  # fmt: skip
            if len(self._routes) >= _MOST_ROUTES:
                self._forget()
            self._routes[key] = route
        return route

    def _step(self, step: str, operation: str, methods: Sequence[tuple[str, Method]]) -> _Step:
        timings = self.durations.step(step, operation, tuple(name for name, _ in methods))
        return _Step(tuple(zip((method for _, method in methods), timings.plugins, strict=True)), timings)

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
        step = self._route(attributes)[0]
        seconds = await self._call(step, attributes)
        if attributes.wants_again and not attributes.again:
            attributes.again = True
            step = self._route(attributes)[0]
            seconds = await self._call(step, attributes, seconds)
        step.timings.whole.leave(seconds)

    async def validate(self, attributes: Attributes) -> None:
        """Let every plugin refuse the object."""
        step = self._route(attributes)[1]
        step.timings.whole.leave(await self._call(step, attributes))

    async def _call(self, step: _Step, attributes: Attributes, already: float = 0.0) -> float:
        """Call one plugin after the other; return the seconds that the step took, with those that it had taken already."""
        timings, timing = step.timings, None
        begin = before = monotonic()
        try:
            for method, timing in step.calls:
                waiting = method(attributes)
                if waiting is not None:
                    await waiting
                now = monotonic()
                seconds, before = now - before, now
                timing.total += seconds
                if seconds > FIRST:
                    timing.slow(seconds)
        except BaseException:
            now = monotonic()
            timings.refused(timing, now - before, already + now - begin)
            raise
        timings.rounds += 1
        return already + before - begin
