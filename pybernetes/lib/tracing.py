"""Spans of OpenTelemetry, sent by OTLP over gRPC. The packages are imported only by a program that is asked for spans."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pybernetes.lib.grpc.channel import Channel, RpcError
from pybernetes.lib.http.dialer import Dialer, direct

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Span

log = logging.getLogger(__name__)
ENDPOINT = "localhost:4317"
MILLION = 1_000_000
CARRIED = ("traceparent", "tracestate")  # headers in which a client tells of its span
_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_SEND_SECONDS = 10.0
_DEFAULT_PORT = 443  # as gRPC has it


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Where spans go, and how many in a million of those that have no parent."""

    endpoint: str = ENDPOINT
    rate: int = 0


class Spans:
    """Makes no spans: what stands where nobody asked for any."""

    def part(
        self, name: str, attributes: Mapping[str, str], *, client: bool = False
    ) -> AbstractContextManager[Span | None]:
        """Make the span of something that is done, within the one that is current."""
        return nullcontext()

    def past(self, name: str, begin: float, end: float, attributes: Mapping[str, str]) -> None:
        """Make the span of something that is over, within the one that is current; the times are since the epoch."""

    def served(
        self, name: str, carrier: Mapping[str, str], attributes: Mapping[str, str], *, trusted: bool = False
    ) -> AbstractContextManager[Span | None]:
        """Make the span of a request that came in; ``carrier`` has the headers in which the client tells of its own."""
        return nullcontext()

    def headers(self) -> dict[str, str]:
        """Return the headers that tell another server of the span that is current."""
        return {}

    def close(self) -> None:
        """Send what is left."""


class Tracer(Spans):
    """Makes spans and has a thread send them. ``asker`` is what needs the packages, ``resource`` says whose spans they are."""

    def __init__(
        self, settings: TracingSettings, resource: Mapping[str, str], asker: str, dial: Dialer | None = None
    ) -> None:
        try:
            from opentelemetry import trace
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

            self._exporter = _exporter(settings.endpoint, dial or direct)
        except ImportError as error:
            raise ValueError(
                f"{asker} needs the OpenTelemetry packages: pip install 'pybernetes[tracing]' ({error})"
            ) from None
        root = TraceIdRatioBased(settings.rate / MILLION) if settings.rate else ALWAYS_OFF
        self._provider = TracerProvider(sampler=ParentBased(root), resource=Resource(dict(resource)))
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer, self._trace = self._provider.get_tracer("pybernetes"), trace
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def part(self, name: str, attributes: Mapping[str, str], *, client: bool = False) -> Iterator[Span]:
        """Make the span of something that is done, within the one that is current."""
        self._exporter.loop = asyncio.get_running_loop()
        kind = self._trace.SpanKind.CLIENT if client else self._trace.SpanKind.INTERNAL
        with self._tracer.start_as_current_span(name, kind=kind, attributes=dict(attributes)) as span:
            yield span

    def past(self, name: str, begin: float, end: float, attributes: Mapping[str, str]) -> None:
        """Make the span of something that is over, within the one that is current; the times are since the epoch."""
        with self.whole(name, begin, end, attributes):
            pass

    @contextmanager
    def whole(self, name: str, begin: float, end: float, attributes: Mapping[str, str]) -> Iterator[None]:
        """Make the span of something that is over and has parts, which are told meanwhile."""
        self._exporter.loop = asyncio.get_running_loop()
        span = self._tracer.start_span(name, attributes=dict(attributes), start_time=int(begin * 1e9))
        with self._trace.use_span(span):
            yield
        span.end(int(end * 1e9))

    @contextmanager
    def served(
        self, name: str, carrier: Mapping[str, str], attributes: Mapping[str, str], *, trusted: bool = False
    ) -> Iterator[Span]:
        """Make the span of a request that came in.

        It goes on with the client's if that is trusted. That of another is new, with a link to the client's, and sampled by this
        server alone.
        """
        self._exporter.loop = asyncio.get_running_loop()
        remote, links = self._propagator.extract(carrier), []
        if not trusted:
            came = self._trace.get_current_span(remote).get_span_context()
            links = [self._trace.Link(came)] if came.is_valid else []
            remote = self._trace.set_span_in_context(self._trace.INVALID_SPAN)
        kind = self._trace.SpanKind.SERVER
        with self._tracer.start_as_current_span(
            name, remote, kind, dict(attributes), links, record_exception=False
        ) as span:
            yield span

    def headers(self) -> dict[str, str]:
        """Return the headers that tell another server of the span that is current."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier

    def close(self) -> None:
        """Send what is left; from another thread than the event loop's, which sends it."""
        self._provider.shutdown()


def address(endpoint: str) -> str:
    """Return where a target of gRPC is: ``dns`` is how names are looked up anyway, and without a port it is that of TLS."""
    if endpoint.startswith("unix"):
        return endpoint
    host = endpoint.removeprefix("dns:").lstrip("/")
    return host if host.rpartition(":")[2].isdigit() and not host.endswith("]") else f"{host}:{_DEFAULT_PORT}"


def _exporter(endpoint: str, dial: Dialer) -> Any:
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Exporter(SpanExporter):
        """Encodes spans on the thread that calls it, and sends them from the event loop that made them."""

        def __init__(self) -> None:
            self.loop: asyncio.AbstractEventLoop | None = None
            self._channel = Channel(address(endpoint), dial=dial)
            self._send = self._channel.unary_unary(
                _METHOD, lambda message: message.SerializeToString(), ExportTraceServiceResponse.FromString
            )

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            message = encode_spans(spans)
            try:
                assert self.loop is not None
                sending = asyncio.run_coroutine_threadsafe(self._sent(message), self.loop)
                sending.result(2 * _SEND_SECONDS)
            except (RpcError, RuntimeError, TimeoutError) as error:
                log.warning("%d spans were not sent to %s: %s", len(spans), endpoint, error)
                return SpanExportResult.FAILURE
            return SpanExportResult.SUCCESS

        async def _sent(self, message: Any) -> None:
            await self._send(message, timeout=_SEND_SECONDS, wait_for_ready=True)

        def shutdown(self) -> None:
            if self.loop is not None and self.loop.is_running():
                with suppress(TimeoutError):  # the connection ends with the process at the latest
                    asyncio.run_coroutine_threadsafe(self._channel.close(), self.loop).result(_SEND_SECONDS)

    return Exporter()
