"""A watch as an iterator of events."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from pybernetes.client.errors import from_answer
from pybernetes.client.transport import Event, Events

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


class Watch:
    """Changes as they happen: ``async with client.watch(PODS) as events: async for event in events``.

    It ends when the server ends it, which it does every now and then: go on from ``resource_version``, which is
    that of the last event. The objects may be shared with other watches of this process: do not change them.
    """

    def __init__(self, open_: Callable[[], Awaitable[Events]], resource_version: str = "") -> None:
        self._open = open_
        self._events: Events | None = None
        self._pending: deque[tuple[str, Object]] = deque()
        self._closed = False
        self.resource_version = resource_version

    async def batch(self) -> list[tuple[str, Object]]:
        """Return all changes (type and object) since the last call, bookmarks included; none if the watch has ended.

        Raises Expired if the history is gone, StatusError for any other error that the server sends.
        """
        if self._closed:
            return []
        if self._events is None:
            self._events = await self._open()
        events = await self._events.batch()
        if not events:
            self.close()
            return events
        type_, last = events[-1]
        if type_ == "ERROR":
            if len(events) > 1:  # first what happened before
                self._events = _Failed(events.pop())
                last = events[-1][1]
            else:
                self.close()
                raise from_answer(500, last)
        self.resource_version = last["metadata"].get("resourceVersion", self.resource_version)
        return events

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> Event:
        pending = self._pending
        if not pending:
            pending.extend(await self.batch())
            if not pending:
                raise StopAsyncIteration
        return Event(*pending.popleft())

    def close(self) -> None:
        """End the watch."""
        self._closed = True
        if self._events is not None:
            self._events.close()
            self._events = None

    async def __aenter__(self) -> Watch:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()


class _Failed:
    """What is left of a watch whose last batch ended in an error."""

    def __init__(self, last: tuple[str, Object]) -> None:
        self._last = last

    async def batch(self) -> list[tuple[str, Object]]:
        return [self._last]

    def close(self) -> None:
        pass
