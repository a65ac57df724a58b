"""Looks up names that others chose, in threads of their own.

Whoever chooses a name chooses the server that answers for it, and one that never answers holds a thread for as long as the
system's resolver is patient. The few threads of the event loop stay free for the names that we need ourselves.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Future, ThreadPoolExecutor

_THREADS = 16


class Names:
    """A few threads; a name that is being looked up is not looked up a second time meanwhile."""

    def __init__(self, threads: int = _THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, "names")
        self._open: dict[str, Future[list[str]]] = {}

    async def lookup(self, host: str) -> list[str]:
        """Return the addresses of a name, without repetition; OSError if there are none."""
        asked = self._open.get(host)
        if asked is None:
            asked = self._open[host] = self._pool.submit(_lookup, host)
            asked.add_done_callback(lambda _: self._open.pop(host, None))
        # Whoever does not wait any longer leaves the lookup to the others who ask for this name.
        return await asyncio.shield(asyncio.wrap_future(asked))


def _lookup(host: str) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # no name at all, such as one with a part of 64 characters
        raise OSError(f"lookup {host[:80]!r}: {error}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def is_address(host: str) -> bool:
    """Return whether a host is an address, which nobody needs to look up."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host.partition("%")[0])
        except (OSError, ValueError):
            continue
        return True
    return False
