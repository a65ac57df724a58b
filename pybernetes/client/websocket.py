"""WebSocket connections of a client, over any transport."""

from __future__ import annotations

from pybernetes.client.transport import Headers, Transport
from pybernetes.lib.http.websocket import WebSocketError, check_upgrade, new_key, upgrade_headers
from pybernetes.lib.http.websocket_connection import WebSocket


async def connect(
    transport: Transport, path: str, query: str, protocols: tuple[str, ...], headers: Headers
) -> WebSocket:
    """Open a WebSocket connection; StatusError if the server refuses."""
    key = new_key()
    raw = await transport.upgrade(path, query, {**headers, **upgrade_headers(key, protocols)})
    try:
        check_upgrade(raw.headers, key)
    except WebSocketError:
        raw.close()
        raise
    return WebSocket(raw, raw.headers.get(b"sec-websocket-protocol", b"").decode(), client=True)
