"""What a Prometheus answers that is large, or makes no sense."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from pybernetes.api import errors
from pybernetes.control_plane.metrics_adapter import prometheus_client
from pybernetes.control_plane.metrics_adapter.prometheus_client import PrometheusClient

SAMPLE = {"metric": {"a": "b"}, "value": [1, "2.5"]}


@asynccontextmanager
async def answering(data: Any, **more: Any) -> AsyncIterator[PrometheusClient]:
    """Yield a client of a server that always answers so."""
    body = orjson.dumps({"status": "success", "data": data, **more})

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        client = PrometheusClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        try:
            yield client
        finally:
            client.close()


@pytest.mark.parametrize("count", [1, 20_000])
async def test_large_answers_are_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    threads: set[int] = set()
    read = prometheus_client._sample

    def noted(entry: Any) -> Any:
        threads.add(threading.get_ident())
        return read(entry)

    monkeypatch.setattr(prometheus_client, "_sample", noted)
    async with answering({"resultType": "vector", "result": [SAMPLE] * count}) as client:
        samples = await client.vector("q")
    assert len(samples) == count and samples[0].quantity == "2500m"
    assert (threading.get_ident() in threads) is (count == 1)


@pytest.mark.parametrize(
    "result",
    [5, {}, "x", None, [5, "x", None, [], {}], [{"metric": [], "value": [1, "2"]}, {"metric": {}, "value": 1}],
     [{"metric": {}, "value": [1, "NaN"]}, {"metric": {}, "value": ["x", "1"]}, {"metric": {}, "value": [1, 1e300]}]],
)  # fmt: skip
async def test_figures_that_are_none_are_left_out(result: Any) -> None:
    async with answering({"resultType": "vector", "result": result}) as client:
        assert await client.vector("q") == []


@pytest.mark.parametrize("data", [5, {}, "x", None, {"resultType": "matrix", "result": []}])
async def test_what_is_no_vector_is_an_error(data: Any) -> None:
    async with answering(data) as client:
        assert await client.series("q", 0) == []
        with pytest.raises(errors.StatusError, match="no vector"):
            await client.vector("q")


async def test_a_long_complaint_is_cut() -> None:
    async with answering(None, status="error", error="no " * 10_000_000) as client:
        with pytest.raises(errors.StatusError) as told:
            await client.vector("q")
    assert len(told.value.message) < 1000
