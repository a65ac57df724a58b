"""Talks to an etcd cluster: one channel per endpoint, the next one when the current one fails."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.protocol import NoSpace, StoreError, Unanswered, Unavailable
from pybernetes.lib.grpc.channel import Channel, RpcError, StatusCode
from pybernetes.lib.grpc.frames import MOST_WINDOW
from pybernetes.lib.grpc.stub import Stub
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.lib.tls import tls

CALL_SECONDS = 10.0
# A call that takes longer goes to the next endpoint: this one may have stopped without closing.
ATTEMPT_SECONDS = 3.0
FIRST_DELAY, LAST_DELAY = 0.05, 1.0
TRIED_AGAIN = frozenset({StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED})
NO_SPACE = "database space exceeded"  # how etcd refuses writes beyond its quota


class Rejected(Unavailable):
    """etcd answered with an error that trying again does not change: no space, no permission, …"""

    def __init__(self, code: StatusCode, details: str) -> None:
        super().__init__(f"etcd refused: {details}")
        self.code = code


class Endpoint:
    """One member of the cluster."""

    def __init__(self, address: str, context: Callable[[], ssl.SSLContext], dialer: Dialer) -> None:
        scheme, separator, target = address.partition("://")
        if not separator or scheme not in ("http", "https") or not target.strip("/"):
            raise StoreError(f"etcd server {address!r} must look like http://host:port or https://host:port")
        try:
            channel = Channel(
                target.rstrip("/"),
                context=context() if scheme == "https" else None,
                most_bytes=MOST_WINDOW,  # etcd is trusted with what we have given it
                pings=True,
                dial=dialer,
            )
        except ValueError as error:
            raise StoreError(f"etcd server {address!r}: {error}") from None
        self.address = address
        self.channel = channel
        services = rpc.DESCRIPTOR.services_by_name
        self.kv = Stub(channel, services["KV"])
        self.lease = Stub(channel, services["Lease"])
        self.watch = Stub(channel, services["Watch"])
        self.maintenance = Stub(channel, services["Maintenance"])
        self.cluster = Stub(channel, services["Cluster"])


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
        dialer: Dialer = direct,
    ) -> None:
        if not servers:
            raise StoreError("no etcd servers are given")
        if bool(certfile) != bool(keyfile):
            raise StoreError("the etcd client certificate and its key must be given together")

        def context() -> ssl.SSLContext:
            for path in filter(None, (cafile, certfile, keyfile)):
                check_readable(path)
            try:
                return tls.client_context(cafile, certificate=certfile, key=keyfile)
            except (OSError, ValueError) as error:
                raise StoreError(f"the TLS files for etcd cannot be used: {error}") from None

        self._context, self._dialer = context, dialer
        self.endpoints = [Endpoint(server, context, dialer) for server in servers]
        self._current = 0

    def of(self, servers: Sequence[str]) -> EtcdClient:
        """Return a client of other endpoints that is known by the same certificate."""
        other = EtcdClient(servers)
        other.endpoints = [Endpoint(server, self._context, self._dialer) for server in servers]
        return other

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
            except RpcError as error:
                if NO_SPACE in error.details:
                    raise NoSpace from None
                if error.code is StatusCode.CANCELLED:
                    raise Unanswered("the connection to etcd is closed") from None
                if error.code not in TRIED_AGAIN:
                    raise Rejected(error.code, error.details or error.code.name) from None
                self.leave(endpoint)
                reason = f"{endpoint.address}: {error.details}"
            failures += 1
            if failures % len(self.endpoints) == 0:
                delay = min(LAST_DELAY, FIRST_DELAY * 2 ** (failures // len(self.endpoints) - 1))
                await asyncio.sleep(min(delay, max(0.0, deadline - loop.time())))
            if loop.time() >= deadline:
                raise Unanswered(f"etcd cannot be reached ({reason})")

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(endpoint.channel.close() for endpoint in self.endpoints))


def check_readable(path: str) -> None:
    """Raise StoreError with the name of a file that cannot be read."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
