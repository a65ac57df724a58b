"""The server as an attacker sees it: connections to send anything over, with a token or without."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench.harness.shared_server import NOISY, trusting

# How long an attacker waits for an answer before it goes on with the next round.
_PATIENCE = 20.0


@dataclass(frozen=True)
class Attacked:
    """A server on loopback. ``token`` is of a user who may read and nothing else."""

    port: int
    tls: ssl.SSLContext | None = None
    token: str = NOISY

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a new connection."""
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls)

    async def send(self, *parts: bytes, until_end: bool = False) -> bytes:
        """Send bytes over a connection of their own; return the first of the answer, or all of it."""
        reader, writer = await self.connect()
        try:
            async with asyncio.timeout(_PATIENCE):
                for part in parts:
                    writer.write(part)
                    await writer.drain()
                return await (reader.read() if until_end else reader.read(65536))
        except (OSError, TimeoutError):
            return b""  # a server may hang up
        finally:
            writer.transport.abort()

    def head(self, target: str = "/api/v1/pods", method: str = "GET", *, known: bool = False) -> bytes:
        """Return a request line and the headers that are needed, for more to be added."""
        token = f"Authorization: Bearer {self.token}\r\n" if known else ""
        return f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{token}".encode()


Attack = Callable[[Attacked], Awaitable[object]]


def attacked(port: int) -> Attacked:
    """Return a server that speaks TLS."""
    return Attacked(port, trusting())


async def attack_for(seconds: float, attack: Attack, target: Attacked, attackers: int = 4) -> int:
    """Attack again and again, by several at a time, and return how often it was done."""
    loop = asyncio.get_running_loop()
    end, count = loop.time() + seconds, 0

    async def one() -> None:
        nonlocal count
        while loop.time() < end:
            try:
                async with asyncio.timeout(max(0.1, end - loop.time()) + 1):
                    await attack(target)
            except (OSError, TimeoutError):
                await asyncio.sleep(0.05)  # who hangs up on an attacker defends itself
            count += 1

    await asyncio.gather(*(one() for _ in range(attackers)))
    return count
