"""How the control plane of a local cluster has things done on the host that it may not do itself: it asks the host helper."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
from pathlib import Path
from typing import Any

from pybernetes.control_plane.cloud.local.machine import Balancer, MachineRoute
from pybernetes.tools.local.host_helper import MOST_BYTES

_DIAL_SECONDS, _WORK_SECONDS = 10.0, 600.0  # a volume may have millions of files


class HostClient:
    """The host helper, as the control plane sees it."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    async def connecting(self, host: str, port: int, *, datagram: bool = False) -> socket.socket | None:
        """Return a socket on its way to a pod or service; None while there is no node."""
        question = {"do": "socket", "host": host, "port": port, "datagram": datagram}
        _, made = await asyncio.to_thread(self._ask, question, _DIAL_SECONDS)
        return made

    async def instance(self, name: str) -> dict[str, Any] | None:
        """Return what is known of a node; None if the cluster has none of the name."""
        answer, _ = await asyncio.to_thread(self._ask, {"do": "instance", "name": name}, _DIAL_SECONDS)
        return answer["instance"]

    async def process(self, name: str) -> dict[str, Any] | None:
        """Return since when a process of the cluster runs and how often it was restarted; None if there is none."""
        answer, _ = await asyncio.to_thread(self._ask, {"do": "process", "name": name}, _DIAL_SECONDS)
        return answer["process"]

    async def balancers(self) -> dict[str, Balancer]:
        """Return the load balancers of the machine, by their addresses."""
        answer, _ = await asyncio.to_thread(self._ask, {"do": "balancers"}, _WORK_SECONDS)
        addresses: list[str] = answer["addresses"]
        result = {}
        for address in addresses:  # one by one: an answer has a limit
            answer, _ = await asyncio.to_thread(
                self._ask, {"do": "balancer", "address": address}, _WORK_SECONDS
            )
            fields = answer["balancer"]
            fields |= {name: tuple(fields[name]) for name in ("nodes", "source_ranges")}
            fields["ports"] = tuple((protocol, port) for protocol, port in fields["ports"])
            result[address] = Balancer(**fields)
        return result

    async def balance(self, balancer: dict[str, Any]) -> None:
        """Make or change a load balancer."""
        await asyncio.to_thread(self._ask, {"do": "balance", **balancer}, _WORK_SECONDS)

    async def unbalance(self, address: str) -> None:
        """Remove a load balancer."""
        await asyncio.to_thread(self._ask, {"do": "unbalance", "address": address}, _WORK_SECONDS)

    async def routes(self) -> list[MachineRoute]:
        """Return the routes between nodes."""
        answer, _ = await asyncio.to_thread(self._ask, {"do": "routes"}, _WORK_SECONDS)
        return [MachineRoute(**route) for route in answer["routes"]]

    async def route(self, destination: str, node: str) -> None:
        """Make a route."""
        question: dict[str, object] = {"do": "route", "destination": destination, "node": node}
        await asyncio.to_thread(self._ask, question, _WORK_SECONDS)

    async def unroute(self, destination: str, gateway: str) -> None:
        """Remove a route."""
        question: dict[str, object] = {"do": "unroute", "destination": destination, "gateway": gateway}
        await asyncio.to_thread(self._ask, question, _WORK_SECONDS)

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
            message = json.dumps(question).encode()
            if len(message) > MOST_BYTES:
                raise OSError(errno.EMSGSIZE, f"{question['do']}: this is too much to be asked at once")
            connection.send(message)
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
