"""The server of a proxy: a socket, a stream, and a way to wait until the proxy has what it should have."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pybernetes.control_plane.gateway.envoy.api_pool import message_class
from pybernetes.control_plane.gateway.envoy.messages import message
from pybernetes.control_plane.gateway.xds.delta_stream import DeltaStream
from pybernetes.control_plane.gateway.xds.store import Store

log = logging.getLogger(__name__)
_PACKAGE = "envoy.service.discovery.v3"
_SERVICE = f"{_PACKAGE}.AggregatedDiscoveryService"
_REQUEST, _RESPONSE = f"{_PACKAGE}.DeltaDiscoveryRequest", f"{_PACKAGE}.DeltaDiscoveryResponse"
_ENDED_SECONDS = 1.0


class XdsServer:
    """Serves a store to a proxy on a socket that only the proxy's user may open; 0 is our own user."""

    def __init__(self, socket: Path, user: int = 0) -> None:
        self.store = Store()
        self._socket, self._user = socket, user
        self._server: Any = None
        self._streams: dict[DeltaStream, asyncio.Event] = {}
        self._progress = asyncio.Condition()

    async def start(self) -> None:
        """Begin to serve."""
        import grpc.aio

        handler = grpc.stream_stream_rpc_method_handler(
            self._serve,
            request_deserializer=message_class(_REQUEST).FromString,
            response_serializer=message_class(_RESPONSE).SerializeToString,
        )
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(_SERVICE, {"DeltaAggregatedResources": handler}),)
        )
        self._server.add_insecure_port(f"unix:{self._socket}")
        await self._server.start()
        self._socket.chmod(0o600)
        if self._user:
            os.chown(self._socket, self._user, self._user)

    async def stop(self) -> None:
        """End all streams."""
        if self._server is not None:
            await self._server.stop(_ENDED_SECONDS)

    def changed(self) -> None:
        """Send what has changed in the store."""
        for wake in self._streams.values():
            wake.set()

    async def settled(self, *types: str, seconds: float) -> dict[str, dict[str, str]] | None:
        """Wait until the proxy has everything of some types; return what it refused, or None if it did not answer."""

        def done() -> bool:
            return any(stream.is_settled(*types) for stream in self._streams)

        try:
            async with asyncio.timeout(seconds), self._progress:
                await self._progress.wait_for(done)
        except TimeoutError:
            return None
        refused: dict[str, dict[str, str]] = {}
        for stream in self._streams:
            if stream.is_settled(*types):
                refused |= {type_: dict(names) for type_, names in stream.rejected.items() if names}
        return refused

    async def _serve(self, requests: AsyncIterator[Any], context: Any) -> None:
        stream, wake = DeltaStream(self.store), asyncio.Event()
        self._streams[stream] = wake
        self.store.followers.add(stream.changed)
        log.info("a proxy has connected")
        reader = asyncio.create_task(self._read(requests, stream, wake))
        reader.add_done_callback(lambda _: wake.set())
        try:
            while not reader.done():
                await wake.wait()
                wake.clear()
                for fields in stream.responses():
                    await context.write(message(_RESPONSE, fields))
                async with self._progress:
                    self._progress.notify_all()
        finally:
            del self._streams[stream]
            self.store.followers.discard(stream.changed)
            reader.cancel()

    async def _read(self, requests: AsyncIterator[Any], stream: DeltaStream, wake: asyncio.Event) -> None:
        async for request in requests:
            if request.HasField("error_detail"):
                log.warning("the proxy refuses %s: %s", request.type_url, request.error_detail.message)
            stream.receive(request)
            wake.set()
