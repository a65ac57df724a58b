"""Listens for browsers, and gives the person at the terminal the link."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import ssl
import sys
from collections.abc import Sequence

from pybernetes.client.openid import OpenIdProvider
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.limits import Limits, listen
from pybernetes.lib.http.messages import TEXT, Response
from pybernetes.lib.http.server import Server
from pybernetes.tools.dashboard.application import Application
from pybernetes.tools.dashboard.guard import DATA_HEADERS, Guard
from pybernetes.tools.dashboard.users import Users

_LIMITS = Limits(connections=256, head=64 << 10)


class DashboardServer:
    """The dashboard at an address. Without hosts it has a name below localhost that nobody can guess:

    browsers send cookies to every port of a host, and other ports of this machine may be other people's. With a ``context`` for
    TLS it is for others than the person at the terminal, who prove themselves with tokens: there is no link.
    """

    def __init__(
        self, users: Users, address: str = "127.0.0.1", port: int = 0, hosts: Sequence[str] = (),
        context: ssl.SSLContext | None = None, clock: Clock | None = None, provider: OpenIdProvider | None = None,
    ) -> None:  # fmt: skip
        self._users, self._address, self._port, self._clock = users, address, port, clock
        self._provider = provider
        self._names, self._context = tuple(hosts) or (f"pyb-{secrets.token_hex(8)}.localhost",), context
        self._server: Server | None = None
        self.application: Application = None  # type: ignore[assignment]

    async def start(self) -> None:
        """Listen, and take Enter at the terminal for the wish for a new link."""
        sock = listen(self._address, self._port, _LIMITS)
        port = sock.getsockname()[1]
        hosts = tuple(name if _has_port(name) else f"{name}:{port}" for name in map(str.lower, self._names))
        guard = Guard(hosts, self._context is not None)
        self.application = Application(self._users, guard, self._clock, self._provider)
        self._server = Server(self.application, _refusal, _LIMITS)
        await self._server.listen_on(sock, self._context)
        if self._context is not None:
            return
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
        if self._context is not None:
            return f"Serving the dashboard at {self.application.origin}"
        return f"Open the dashboard with this link; it works once, within ten minutes:\n  {self.application.link()}"

    def _typed(self) -> None:
        if sys.stdin.readline():
            print(self.invitation(), flush=True)
        else:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())


def _refusal(status: int, message: str) -> Response:
    return Response(f"{message}\n".encode(), status, TEXT, DATA_HEADERS)


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")
