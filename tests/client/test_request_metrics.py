"""What a process asked for is counted, with the address that it asked."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.client import rest_transport
from pybernetes.client.request_metrics import RequestMetrics
from pybernetes.client.rest_transport import RestTransport
from pybernetes.lib.metrics.exposition import Exposition


def page(metrics: RequestMetrics) -> str:
    text = Exposition()
    metrics.write(text)
    return text.render().decode()


def test_nothing_is_written_where_nobody_was_asked() -> None:
    assert page(RequestMetrics()).strip() == ""


async def test_answers_and_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = RequestMetrics()
    monkeypatch.setattr(rest_transport, "REQUESTS", metrics)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
        )
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        transport = RestTransport(f"http://{host}")
        assert (await transport.send("GET", "/a"))[0] == 404
    with pytest.raises(OSError):
        await transport.send("DELETE", "/a")  # nobody listens any more
    await transport.close()
    written = page(metrics)
    assert f'rest_client_requests_total{{code="404",host="{host}",method="GET"}} 1\n' in written
    assert f'rest_client_requests_total{{code="<error>",host="{host}",method="DELETE"}}' in written
    assert f'rest_client_request_duration_seconds_count{{host="{host}",verb="GET"}} 1\n' in written
