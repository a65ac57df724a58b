"""Has the kernel forget the connections of addresses whose pods are gone: the next pod with such an address has made none.

What goes on passes without being asked, so that whoever kept up a connection, or only sent the packets of one, would reach
the next pod with that address whatever its policies say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.kernel import connection_table

log = logging.getLogger(__name__)


class Connections:
    """Forgets in the background; whoever gives an address to a pod waits for it."""

    def __init__(self) -> None:
        self._gone: set[str] = set()
        self._forgetting: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def forget(self, addresses: Iterable[str]) -> None:
        """Have connections from and to addresses forgotten."""
        self._gone.update(addresses)
        if self._gone and self._task is None:
            self._task = asyncio.create_task(
                self._forget(), name="policies: connections of pods that are gone"
            )

    async def forgotten(self, addresses: Iterable[str]) -> None:
        """Wait until no connection of these addresses is to be forgotten."""
        wanted = set(addresses)
        while self._task is not None and wanted & (self._gone | self._forgetting):
            await asyncio.wait((self._task,))

    async def _forget(self) -> None:
        try:
            while self._gone:
                self._forgetting, self._gone = self._gone, set()
                try:
                    with (
                        connection_table.open_socket() as opened
                    ):  # here: threads may be elsewhere in the network
                        await off_loop.beside(connection_table.forget, opened, self._forgetting)
                except OSError as error:
                    log.error("connections of pods that are gone stay: %s", error)
        finally:
            self._forgetting.clear()
            self._task = None

    async def close(self) -> None:
        """Let what has begun come to its end."""
        if self._task is not None:
            self._gone.clear()
            await asyncio.wait((self._task,))
