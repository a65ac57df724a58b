"""Listens for browsers, and gives the person at the terminal the link."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys

from pybernetes.client.kubeconfig import Config
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.limits import Limits, listen
from pybernetes.lib.http.messages import TEXT, Response
from pybernetes.lib.http.server import Server
from pybernetes.tools.dashboard.application import Application
from pybernetes.tools.dashboard.guard import DATA_HEADERS

_LIMITS = Limits(connections=256, head=64 << 10)


class DashboardServer:
    """The dashboard at a loopback address. Without a ``host`` it has a name below localhost that nobody can guess:

    browsers send cookies to every port of a host, and other ports of this machine may be other people's.
    """

    def __init__(
        self,
        config: Config,
        address: str = "127.0.0.1",
        port: int = 0,
        host: str = "",
        clock: Clock | None = None,
    ) -> None:
        self._config, self._address, self._port, self._clock = config, address, port, clock
        self._name = host or f"pyb-{secrets.token_hex(8)}.localhost"
        self._server: Server | None = None
        self.application: Application = None  # type: ignore[assignment]
        self.host, self.port = "", 0

    async def start(self) -> None:
        """Listen, and take Enter at the terminal for the wish for a new link."""
        sock = listen(self._address, self._port, _LIMITS)
        self.port = sock.getsockname()[1]
        self.host = f"{self._name.lower()}:{self.port}"
        self.application = Application(self._config, self.host, self._clock)
        self._server = Server(self.application, _refusal, _LIMITS)
        await self._server.listen_on(sock)
        if sys.stdin is not None and sys.stdin.isatty():
            with contextlib.suppress(OSError, ValueError):
                asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._typed)

    async def stop(self) -> None:
        """Let go of all browsers and of the API server."""
        if self._server is not None:
            await self._server.stop()
            await self.application.close()

    def invitation(self) -> str:
        """Return what is said at the terminal."""
        return f"Open the dashboard with this link; it works once, within ten minutes:\n  {self.application.link()}"

    def _typed(self) -> None:
        if sys.stdin.readline():
            print(self.invitation(), flush=True)
        else:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())


def _refusal(status: int, message: str) -> Response:
    return Response(f"{message}\n".encode(), status, TEXT, DATA_HEADERS)
