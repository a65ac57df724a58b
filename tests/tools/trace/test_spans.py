"""A pod's creation as spans at a real OTLP receiver."""

import asyncio

from pybernetes.lib.tracing import MILLION, Tracer, TracingSettings
from pybernetes.tools.trace import spans
from pybernetes.tools.trace.row import Row
from pybernetes.tools.trace.timeline import Trace
from tests.lib.span_collector import collecting

AT = 1_700_000_000.0


async def test_steps_are_parts_of_the_whole() -> None:
    rows = [
        Row("request", "kube-apiserver", AT, AT + 0.25),
        Row("start", "kubelet", AT + 0.25, AT + 1, "main"),
        Row("status", "kubelet", AT + 1, None),
    ]
    with collecting() as (collector, endpoint):
        tracer = Tracer(TracingSettings(endpoint, MILLION), {"service.name": "test"}, "test")
        spans.tell(Trace("shop", "web", "u1", "n1", begin=AT, steps=rows), tracer)
        spans.tell(Trace("shop", "none"), tracer)
        await asyncio.to_thread(tracer.close)
        (whole,) = collector.named("pod creation")
        (start,) = collector.named("start")
        assert start.parent_span_id == whole.span_id and start.trace_id == whole.trace_id
        assert (start.start_time_unix_nano, start.end_time_unix_nano) == (
            int((AT + 0.25) * 1e9),
            int((AT + 1) * 1e9),
        )
        assert whole.end_time_unix_nano == int((AT + 1) * 1e9)
        assert {item.key: item.value.string_value for item in start.attributes}["component"] == "kubelet"
        assert not collector.named("status")
