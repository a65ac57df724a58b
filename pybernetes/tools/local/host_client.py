"""How the control plane of a local cluster has things done on the host that it may not do itself: it asks the host helper."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
from pathlib import Path
from typing import Any

from pybernetes.tools.local.host_helper import MOST_BYTES

_DIAL_SECONDS, _WORK_SECONDS = 10.0, 600.0  # a volume may have millions of files


class HostClient:
    """The host helper, as the control plane sees it."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    async def connecting(self, host: str, port: int) -> socket.socket | None:
        """Return a socket on its way to a pod or service; None while there is no node."""
        _, made = await asyncio.to_thread(
            self._ask, {"do": "socket", "host": host, "port": port}, _DIAL_SECONDS
        )
        return made

    async def routes(self) -> dict[str, str]:
        """Return the routes of load balancers: addresses, and the nodes that they lead to."""
        answer, _ = await asyncio.to_thread(self._ask, {"do": "routes"}, _WORK_SECONDS)
        return answer["routes"]

    async def route(self, address: str, node: str) -> None:
        """Route an address to a node, or nowhere."""
        await asyncio.to_thread(self._ask, {"do": "route", "address": address, "node": node}, _WORK_SECONDS)

    async def make_volume(self, path: Path) -> None:
        """Make the folder of a volume."""
        await asyncio.to_thread(self._ask, {"do": "make-volume", "name": path.name}, _WORK_SECONDS)

    async def remove_volume(self, path: Path) -> None:
        """Remove the folder of a volume."""
        await asyncio.to_thread(self._ask, {"do": "remove-volume", "name": path.name}, _WORK_SECONDS)

    def _ask(
        self, question: dict[str, object], seconds: float
    ) -> tuple[dict[str, Any], socket.socket | None]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(seconds)
            connection.connect(self._path)
            connection.send(json.dumps(question).encode())
            data, descriptors, _, _ = socket.recv_fds(connection, MOST_BYTES, 1)
        made = None
        if descriptors:
            made = socket.socket(fileno=descriptors[0])
            made.setblocking(False)
        if not data:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        answer = json.loads(data)
        if "error" in answer:
            raise OSError(answer["errno"], answer["error"])
        return answer, made
