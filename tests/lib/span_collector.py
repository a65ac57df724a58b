"""A real OTLP receiver that keeps the spans that it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as messages
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as service


class Collector(service.TraceServiceServicer):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []

    def Export(self, request: Any, context: Any) -> Any:
        for resource in request.resource_spans:
            attributes = resource.resource.attributes
            self.resources.append({item.key: item.value.string_value for item in attributes})
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return messages.ExportTraceServiceResponse()

    def named(self, name: str) -> list[Any]:
        """Return the spans of a name."""
        return [span for span in self.spans if span.name == name]


@contextmanager
def collecting() -> Iterator[tuple[Collector, str]]:
    """Receive spans; give the collector and where it listens."""
    collector, server = Collector(), grpc.server(ThreadPoolExecutor(2))
    service.add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield collector, f"127.0.0.1:{port}"
    finally:
        server.stop(1).wait()


def attributes(span: Any) -> dict[str, str]:
    """Return the texts that a span has."""
    return {item.key: item.value.string_value for item in span.attributes}
