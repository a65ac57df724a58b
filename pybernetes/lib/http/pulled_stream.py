"""A response whose body is pulled from an iterator, as fast as the client takes it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

from pybernetes.lib.http.messages import TEXT
from pybernetes.lib.http.stream import Client, Stream, chunk

log = logging.getLogger(__name__)
# How long a body goes on when the server is about to go away; some have no end, such as logs that are followed.
_DRAIN_SECONDS = 2.0


class PulledStream(Stream):
    """An open response that asks for more only when what it has is sent."""

    def __init__(self, body: AsyncIterator[bytes], *, content_type: bytes = TEXT, status: int = 200) -> None:
        super().__init__(content_type=content_type, status=status)
        self._body = body
        self._writable = asyncio.Event()
        self._writable.set()
        self._task: asyncio.Task[None] | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def attach(self, connection: Client) -> None:
        """Take the connection over and begin to pull."""
        super().attach(connection)
        if not self.closed:
            self._task = asyncio.get_running_loop().create_task(self._pull(connection))

    async def _pull(self, connection: Client) -> None:
        try:
            async for data in self._body:
                if data:
                    self.write(chunk(data))
                    self.flush()
                    await self._writable.wait()
        except Exception as error:
            # The client must not take what it has for the whole.
            log.warning("a response ends before its time: %s", error or type(error).__name__)
            self._task = None
            connection.abort()
            return
        self._task = None
        self.end()

    def pause(self) -> None:
        """Pull no more for now."""
        self._writable.clear()

    def resume(self) -> None:
        """Go on pulling."""
        self._writable.set()

    def drain(self) -> None:
        """Keep pulling for a while and then break off: a body that ended here would look whole."""
        if self._connection is not None and self._deadline is None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(_DRAIN_SECONDS, self._connection.abort)

    def lost(self) -> None:
        """Let go of everything, the iterator included."""
        if self._deadline is not None:
            self._deadline.cancel()
        if self._task is not None:
            self._task.cancel()
            self._task = None
        super().lost()
