"""One server that ``forward`` asks."""

from __future__ import annotations

import asyncio
import functools
import ssl

from pybernetes.lib.http.dialer import Dialer
from pybernetes.node.dns import config, wire
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.plugins.forward.settings import Settings
from pybernetes.node.dns.upstream import Stream, exchange


@functools.cache
def _verifying() -> ssl.SSLContext:
    """Return what verifies servers by the machine's authorities; reading these takes a while."""
    return ssl.create_default_context()


class Proxy:
    """One server to ask: how, and whether it is well."""

    def __init__(
        self, server: config.Server, tls: bool, server_name: str, settings: Settings, dialer: Dialer
    ) -> None:
        self.server, self._settings, self._dialer = server, settings, dialer
        self.label = f"[{server[0]}]:{server[1]}" if ":" in server[0] else f"{server[0]}:{server[1]}"
        context = (settings.tls or _verifying()) if tls else None
        self._tls = tls
        self._stream = Stream(
            server, context, server_name or settings.server_name, settings.expire, settings.source, dialer
        )
        self.fails = 0
        self._checking: asyncio.Task[None] | None = None

    @property
    def is_down(self) -> bool:
        """Whether so many checks have failed that others are asked first."""
        return bool(self._settings.max_fails) and self.fails >= self._settings.max_fails

    async def ask(self, question: bytes, tcp: bool) -> bytes:
        """Return the server's answer."""
        if self._tls or self._settings.force_tcp or (tcp and not self._settings.prefer_udp):
            return await self._stream.exchange(question)
        message = await exchange(question, self.server, self._settings.source, self._dialer)
        if message[2] & 2:  # cut: the whole of it comes over TCP
            message = await self._stream.exchange(question)
        return message

    def check(self, metrics: Metrics) -> None:
        """Look after a server that failed until it is well again; a look costs nobody's question."""
        if self._settings.max_fails and self._checking is None:
            self._checking = asyncio.create_task(self._check(metrics))

    async def _check(self, metrics: Metrics) -> None:
        try:
            while True:
                try:
                    async with asyncio.timeout(max(1.0, self._settings.health_seconds)):
                        await self.ask(self._settings.health_question, False)
                    self.fails = 0
                    return
                except (OSError, TimeoutError, wire.Malformed):
                    self.fails += 1
                    metrics.count("coredns_proxy_healthcheck_failures_total", (("proxy_name", "forward"), ("to", self.label)))  # fmt: skip
                await asyncio.sleep(self._settings.health_seconds)
        finally:
            self._checking = None

    async def close(self) -> None:
        """End connections and checks."""
        if self._checking is not None:
            self._checking.cancel()
        await self._stream.close()
