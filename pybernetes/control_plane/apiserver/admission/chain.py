"""Runs the admission plugins over a write, those that change it first, then those that only judge.

A look at the clock costs more than most plugins do: those that have nothing to do with a sort of write are not called
for it, and count as having let it pass in no time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
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
from pybernetes.control_plane.store.protocol import Place
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
        # Where something changes that decides which plugins are idle, and what was seen of it.
        self._places = tuple({place: None for plugin in plugins for place in plugin.places})
        self._seen: list[tuple[Place, int]] = []
        on_forget(self._forget)
        self._forget()

    def _forget(self) -> None:
        self._routes.clear()  # of kinds that came and went
        self._seen = [(place, place.changed) for place in self._places]

    def _route(self, attributes: Attributes) -> _Route:
        for place, seen in self._seen:
            if place.changed != seen:
                self._forget()
                break
        resource = attributes.resource
        key = (attributes.operation, resource.group, resource.plural, attributes.subresource)
        route = self._routes.get(key)
        if route is None:
            route = self._find(*key)
            if len(self._routes) >= _MOST_ROUTES:
                self._forget()
            self._routes[key] = route
        return route

    def _find(self, operation: str, group: str, plural: str, subresource: str) -> _Route:
        name = errors.qualified(group, plural)
        concerned = [plugin for plugin in self.plugins if plugin.scope.covers(operation, name, subresource)]
        mutating = [plugin for plugin in concerned if type(plugin).mutate is not Plugin.mutate]
        validating = [plugin for plugin in concerned if type(plugin).validate is not Plugin.validate]
        awake = {plugin for plugin in concerned if not plugin.is_idle(operation, name, subresource)}
        return (
            self._step("admit", operation, [(plugin, plugin.mutate) for plugin in mutating], awake),
            self._step("validate", operation, [(plugin, plugin.validate) for plugin in validating], awake),
        )

    def _step(
        self, step: str, operation: str, methods: Sequence[tuple[Plugin, Method]], awake: Collection[Plugin]
    ) -> _Step:
        timings = self.durations.step(step, operation, tuple(plugin.name for plugin, _ in methods))
        timed = zip(methods, timings.plugins, strict=True)
        return _Step(
            tuple((method, timing) for (plugin, method), timing in timed if plugin in awake), timings
        )

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
        mutating, validating = self._route(attributes)
        await self._call(mutating, attributes)
        await self._call(validating, attributes)

    def mutate(self, attributes: Attributes) -> Awaitable[None]:
        """Let every plugin change the object, twice if what came later made a change that others want to see."""
        return self._call(self._route(attributes)[0], attributes)

    def validate(self, attributes: Attributes) -> Awaitable[None]:
        """Let every plugin refuse the object."""
        return self._call(self._route(attributes)[1], attributes)

    async def _call(self, step: _Step, attributes: Attributes, begin: float = 0.0) -> None:
        """Call one plugin after the other, in a step that may have begun with a first round."""
        timings, timing = step.timings, None
        before = monotonic()
        begin = begin or before
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
            timings.refused(timing, now - before, now - begin)
            raise
        timings.rounds += 1
        if attributes.wants_again and not attributes.again:
            attributes.again = True
            await self._call(self._route(attributes)[0], attributes, begin)
        else:
            timings.whole.leave(before - begin)
