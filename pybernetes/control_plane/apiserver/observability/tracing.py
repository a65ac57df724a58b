"""Spans of requests, of writes to the store and of calls to other servers, sent by OTLP to a collector.

The OpenTelemetry packages are imported only by a server that was given ``--tracing-config-file``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pybernetes.api.errors import StatusError
from pybernetes.api.field import Errors, Path
from pybernetes.api.strict_types import INT32, STRING, Problem, Struct, aggregate, read_document, read_file
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.client import HttpClient, Peer
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.http.messages import Reply

if TYPE_CHECKING:
    from opentelemetry.trace import Span

FLAG = Flag("tracing-config-file", "", "file that says where spans are sent (OTLP), and of how many requests")
_ENDPOINT = "localhost:4317"
_MILLION = 1_000_000
_SCHEME = "k8s.io/apiserver/pkg/server/options/tracing.go:48"
_DOCUMENT = Struct(
    "v1.TracingConfiguration",
    {"kind": STRING, "apiVersion": STRING, "endpoint": STRING, "samplingRatePerMillion": INT32},
)
_KINDS = {
    (f"apiserver.config.k8s.io/{version}", "TracingConfiguration"): _DOCUMENT for version in ("v1", "v1beta1", "v1alpha1")
}  # fmt: skip
# Whose spans go on where they say; the spans of others are new, with a link to theirs, and sampled by this server alone.
_TRUSTED = frozenset(("system:masters", "system:monitoring"))


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Where spans go, and of how many requests in a million that do not come with a parent."""

    endpoint: str = _ENDPOINT
    rate: int = 0


def load(path: str) -> TracingSettings:
    """Read a TracingConfiguration; ValueError says in upstream's words what is wrong with it."""
    try:
        document = read_document(read_file(path), _KINDS, _SCHEME)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ValueError(
            f'failed to read tracing config: unable to read tracing configuration from "{path}": open {path}: {why}'
        ) from None
    except Problem as problem:
        raise ValueError(
            f"failed to read tracing config: unable to decode tracing configuration data: {problem}"
        ) from None
    problems, rate = Errors(), document.get("samplingRatePerMillion") or 0
    if rate < 0:
        problems.invalid(Path("samplingRatePerMillion"), rate, "sampling rate must be positive")
    if rate > _MILLION:
        text = "sampling rate per million must be less than or equal to one million"
        problems.invalid(Path("samplingRatePerMillion"), rate, text)
    endpoint = document.get("endpoint") or _ENDPOINT
    scheme = urlsplit(endpoint).scheme if "//" in endpoint else "dns"
    if scheme not in ("dns", "unix", "unix-abstract"):
        text = (
            f"unsupported scheme: {scheme}.  Options are none, dns, unix, or unix-abstract.  "
            "See https://github.com/grpc/grpc/blob/master/doc/naming.md"
        )
        problems.invalid(Path("endpoint"), endpoint, text)
    if problems:
        raise ValueError(
            f"failed to validate tracing configuration: {aggregate([str(error) for error in problems])}"
        )
    return TracingSettings(endpoint, rate)


class Tracer:
    """Makes spans and sends them, from a thread of its own."""

    def __init__(self, settings: TracingSettings, server: str) -> None:
        try:
            from opentelemetry import trace
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError as error:
            raise ValueError(
                f"--tracing-config-file needs the OpenTelemetry packages: pip install 'pybernetes[tracing]' ({error})"
            ) from None
        root = TraceIdRatioBased(settings.rate / _MILLION) if settings.rate else ALWAYS_OFF
        resource = Resource({"service.name": "apiserver", "service.instance.id": server})
        self._provider = TracerProvider(sampler=ParentBased(root), resource=resource)
        exporter = OTLPSpanExporter(endpoint=settings.endpoint, insecure=True)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer, self._trace = self._provider.get_tracer("pybernetes"), trace
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, request: Request) -> Iterator[Span]:
        """Make the span of a request, which what is done for it has as its parent."""
        carrier = {
            name: value for name in ("traceparent", "tracestate") if (value := request.header(name.encode()))
        }
        remote = self._propagator.extract(carrier)
        trusted = request.user is not None and not _TRUSTED.isdisjoint(request.user.groups)
        links = []
        if not trusted:
            came = self._trace.get_current_span(remote).get_span_context()
            links = [self._trace.Link(came)] if came.is_valid else []
            remote = self._trace.set_span_in_context(self._trace.INVALID_SPAN)
        attributes = {
            "http.request.method": request.method,
            "http.target": request.path,
            "audit-id": request.audit_id.decode("latin-1"),
        }
        with self._tracer.start_as_current_span(
            span_name(request),
            remote,
            self._trace.SpanKind.SERVER,
            attributes,
            links,
            record_exception=False,
        ) as span:
            try:
                yield span
            except StatusError as error:
                span.set_attribute("http.response.status_code", error.code)
                raise

    @contextmanager
    def part(self, name: str, attributes: Mapping[str, str], *, client: bool = False) -> Iterator[Span]:
        """Make the span of something that is done for a request, or for nobody."""
        kind = self._trace.SpanKind.CLIENT if client else self._trace.SpanKind.INTERNAL
        with self._tracer.start_as_current_span(name, kind=kind, attributes=dict(attributes)) as span:
            yield span

    def headers(self) -> dict[str, str]:
        """Return the headers that tell another server of the span that is current."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def span_name(request: Request) -> str:
    """Return the name of a request's span: its method, and the shape of its path without names."""
    info = request.request_info
    if not info.is_resource:
        return request.method
    parts = ["apis", info.group] if info.group else ["api"]
    parts += [info.version, *(("namespaces", "{:namespace}") if info.namespace else ()), info.resource]
    parts += ["{:name}"] if info.name else []
    parts += [info.subresource] if info.subresource else []
    return f"{request.method} /{'/'.join(parts)}"


class TracedHttpClient(HttpClient):
    """Calls other servers, each call in a span that it tells them of."""

    def __init__(self, tracer: Tracer, dialer: Dialer) -> None:
        super().__init__(dialer)
        self._traces = tracer

    async def send(
        self, peer: Peer, method: str, path: str, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> Reply:
        """Send one request; RequestFailed if no answer came in time."""
        where = {"server.address": peer.server_name or peer.host, "url.path": path.partition("?")[0]}
        with self._traces.part(f"HTTP {method}", where, client=True) as span:
            told = {**headers, **self._traces.headers()}
            reply = await super().send(peer, method, path, body, told, seconds)
            span.set_attribute("http.response.status_code", reply.status)
            return reply


# The writes of a store, and upstream's names of their spans.
_WRITES = {"create": "Create etcd3", "update": "GuaranteedUpdate etcd3", "delete": "Delete etcd3"}


class _TracedStore:
    """A store whose writes are spans: it stands before the real one and passes everything on."""

    def __init__(self, tracer: Tracer, store: Store) -> None:
        self._tracer, self._store = tracer, store

    def __getattr__(self, name: str) -> Any:
        passed_on = getattr(self._store, name)
        return partial(self._traced, _WRITES[name], passed_on) if name in _WRITES else passed_on

    async def _traced(
        self, name: str, write: Callable[..., Awaitable[Any]], key: str, *arguments: Any, **options: Any
    ) -> Any:
        with self._tracer.part(name, {"key": key}):
            return await write(key, *arguments, **options)


def traced_store(tracer: Tracer, store: Store) -> Store:
    """Return a store whose writes are spans."""
    return cast(Store, _TracedStore(tracer, store))
