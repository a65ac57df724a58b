"""Spans on their way to a real OTLP receiver."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pybernetes.lib import tracing
from pybernetes.lib.http.connect_dialer import ConnectDialer, ProxyServer
from pybernetes.lib.tracing import Spans, Tracer, TracingSettings, address
from tests.control_plane.store.etcd_server import free_ports
from tests.lib.http.connect_proxy import ConnectProxy
from tests.lib.span_collector import attributes, collecting


@pytest.mark.parametrize(
    ("endpoint", "where"),
    [
        ("localhost:4317", "localhost:4317"),
        ("dns:///collector:4317", "collector:4317"),
        ("dns:collector", "collector:443"),
        ("[::1]:4317", "[::1]:4317"),
        ("[::1]", "[::1]:443"),
        ("unix:///run/otel.sock", "unix:///run/otel.sock"),
        ("unix-abstract:otel", "unix-abstract:otel"),
    ],
)
def test_targets(endpoint: str, where: str) -> None:
    assert address(endpoint) == where


async def test_spans_go_through_a_proxy() -> None:
    with collecting() as (collector, endpoint):
        async with ConnectProxy().listening() as proxy:
            dial = ConnectDialer(ProxyServer("127.0.0.1", proxy.port))
            tracer = Tracer(TracingSettings(endpoint, 1_000_000), {"service.name": "x"}, "a test", dial)
            with tracer.part("whole", {"of": "a"}), tracer.part("part", {}, client=True):
                assert tracer.headers()["traceparent"].startswith("00-")
            await asyncio.to_thread(tracer.close)
        assert proxy.targets == [endpoint]
        (whole,), (part,) = collector.named("whole"), collector.named("part")
    assert part.parent_span_id == whole.span_id and attributes(whole) == {"of": "a"}
    assert collector.resources[0]["service.name"] == "x"


async def test_nobody_takes_them(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_SEND_SECONDS", 0.3)
    tracer = Tracer(TracingSettings(f"127.0.0.1:{free_ports(1)[0]}", 1_000_000), {}, "a test")
    with tracer.part("lost", {}):
        pass
    with caplog.at_level(logging.WARNING):
        await asyncio.to_thread(tracer.close)
    assert "1 spans were not sent to 127.0.0.1:" in caplog.text


def test_where_nobody_asked_for_any() -> None:
    spans = Spans()
    with spans.part("a", {}) as span:
        assert span is None and spans.headers() == {}
    spans.close()
