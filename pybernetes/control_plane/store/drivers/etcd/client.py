"""Talks to an etcd cluster: one channel per endpoint, the next one when the current one fails.

Only the etcd driver imports this, since importing gRPC costs time and memory.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

# gRPC's core reports every lost connection on standard error, beside what is raised.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
from aetcd import rpc

from pybernetes.control_plane.store.protocol import NoSpace, StoreError, Unavailable

CALL_SECONDS = 10.0
# A call that takes longer goes to the next endpoint: this one may have stopped without closing.
ATTEMPT_SECONDS = 3.0
FIRST_DELAY, LAST_DELAY = 0.05, 1.0
TRIED_AGAIN = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})
NO_SPACE = "database space exceeded"  # how etcd refuses writes beyond its quota
OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)


class Rejected(Unavailable):
    """etcd answered with an error that trying again does not change: no space, no permission, …"""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(f"etcd refused: {details}")
        self.code = code


class Endpoint:
    """One member of the cluster."""

    def __init__(self, address: str, credentials: Callable[[], grpc.ChannelCredentials]) -> None:
        scheme, separator, target = address.partition("://")
        if not separator or scheme not in ("http", "https") or not target.strip("/"):
            raise StoreError(f"etcd server {address!r} must look like http://host:port or https://host:port")
        target = target.rstrip("/")
        if scheme == "https":
            channel = grpc.aio.secure_channel(target, credentials(), options=OPTIONS)
        else:
            channel = grpc.aio.insecure_channel(target, options=OPTIONS)
        self.address = address
        self.channel = channel
        self.kv: Any = rpc.KVStub(channel)
        self.lease: Any = rpc.LeaseStub(channel)
        self.watch: Any = rpc.WatchStub(channel)
        self.maintenance: Any = rpc.MaintenanceStub(channel)


Method = Callable[[Endpoint], Callable[..., Awaitable[Any]]]


class EtcdClient:
    """Sends requests to whichever endpoint answers."""

    def __init__(
        self,
        servers: Sequence[str],
        *,
        cafile: str | None = None,
        certfile: str | None = None,
        keyfile: str | None = None,
    ) -> None:
        if not servers:
            raise StoreError("no etcd servers are given")
        if bool(certfile) != bool(keyfile):
            raise StoreError("the etcd client certificate and its key must be given together")

        def credentials() -> grpc.ChannelCredentials:
            return grpc.ssl_channel_credentials(read(cafile), read(keyfile), read(certfile))

        self.endpoints = [Endpoint(server, credentials) for server in servers]
        self._current = 0

    @property
    def current(self) -> Endpoint:
        """The endpoint that is used now."""
        return self.endpoints[self._current]

    def leave(self, endpoint: Endpoint) -> None:
        """Go on to the next endpoint, unless someone else has done so already."""
        if endpoint is self.current:
            self._current = (self._current + 1) % len(self.endpoints)

    async def call(
        self,
        method: Method,
        request: Any,
        *,
        timeout: float = CALL_SECONDS,
        attempt: float = ATTEMPT_SECONDS,
    ) -> tuple[Any, bool]:
        """Return the answer, and whether an earlier attempt failed that may have taken effect nevertheless."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        failures = 0
        while True:
            endpoint = self.current
            left = deadline - loop.time()
            try:
                return await method(endpoint)(request, timeout=max(0.001, min(left, attempt))), failures > 0
            except grpc.aio.AioRpcError as error:
                if NO_SPACE in (error.details() or ""):
                    raise NoSpace from None
                if error.code() not in TRIED_AGAIN:
                    raise Rejected(error.code(), error.details() or str(error.code())) from None
                self.leave(endpoint)
                reason = f"{endpoint.address}: {error.details()}"
            except grpc.aio.UsageError:
                raise Unavailable("the connection to etcd is closed") from None
            failures += 1
            if failures % len(self.endpoints) == 0:
                delay = min(LAST_DELAY, FIRST_DELAY * 2 ** (failures // len(self.endpoints) - 1))
                await asyncio.sleep(min(delay, max(0.0, deadline - loop.time())))
            if loop.time() >= deadline:
                raise Unavailable(f"etcd cannot be reached ({reason})")

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(endpoint.channel.close() for endpoint in self.endpoints))


def read(path: str | None) -> bytes | None:
    """Return the content of a file, if one is named."""
    if not path:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
