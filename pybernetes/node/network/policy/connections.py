"""Has the kernel forget the connections of addresses whose pods are gone: the next pod with such an address has made none.

What goes on passes without being asked, so that whoever kept up a connection, or only sent the packets of one, would reach
the next pod with that address whatever its policies say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from pybernetes.lib.processes.commands import CommandError, run
from pybernetes.node.network.policy.table import family

log = logging.getLogger(__name__)
_AT_ONCE = 32  # addresses; the kernel looks through all connections twice for each


class Connections:
    """Forgets in the background; whoever gives an address to a pod waits for it."""

    def __init__(self) -> None:
        self._gone: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None

    def forget(self, addresses: Iterable[str]) -> None:
        """Have connections from and to addresses forgotten."""
        self._gone.update(dict.fromkeys(addresses))
        if self._gone and self._task is None:
            self._task = asyncio.create_task(
                self._forget(), name="policies: connections of pods that are gone"
            )

    async def forgotten(self, addresses: Iterable[str]) -> None:
        """Wait until no connection of these addresses is to be forgotten."""
        while self._task is not None and not self._gone.keys().isdisjoint(addresses):
            await asyncio.wait((self._task,))

    async def _forget(self) -> None:
        try:
            while self._gone:
                some = list(self._gone)[:_AT_ONCE]
                try:
                    await run("conntrack", "-R", "-", text="".join(map(_lines, some)))
                except CommandError as error:
                    log.error("connections of pods that are gone stay: %s", error)
                for address in some:
                    self._gone.pop(address, None)
        finally:
            self._task = None

    async def close(self) -> None:
        """Let what has begun come to its end."""
        if self._task is not None:
            self._gone.clear()
            await asyncio.wait((self._task,))


def _lines(address: str) -> str:
    """Return what conntrack reads: connections that an address began, and those that led to it, by a service too."""
    version = family(address)
    return f"-D -f ipv{version} --orig-src {address}\n-D -f ipv{version} --reply-src {address}\n"
