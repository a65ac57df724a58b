"""Spans of requests, of writes to the store and of calls to other servers, sent by OTLP to a collector.

The OpenTelemetry packages are imported only by a server that was given ``--tracing-config-file``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pybernetes.api import tracing_configuration
from pybernetes.api.errors import StatusError
from pybernetes.api.strict_types import INT32, STRING, Problem, Struct, aggregate, read_document, read_file
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib import tracing
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.client import HttpClient, Peer
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.http.messages import Reply
from pybernetes.lib.tracing import TracingSettings

if TYPE_CHECKING:
    from opentelemetry.trace import Span

FLAG = Flag("tracing-config-file", "", "file that says where spans are sent (OTLP), and of how many requests")
_SCHEME = "k8s.io/apiserver/pkg/server/options/tracing.go:48"
_DOCUMENT = Struct(
    "v1.TracingConfiguration",
    {"kind": STRING, "apiVersion": STRING, "endpoint": STRING, "samplingRatePerMillion": INT32},
)
_KINDS = {
    (f"apiserver.config.k8s.io/{version}", "TracingConfiguration"): _DOCUMENT for version in ("v1", "v1beta1", "v1alpha1")
}  # fmt: skip
# Whose spans go on where they say.
_TRUSTED = frozenset(("system:masters", "system:monitoring"))


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
    wrong = tracing_configuration.problems(document)
    if wrong:
        raise ValueError(
            f"failed to validate tracing configuration: {aggregate([str(error) for error in wrong])}"
        )
    return tracing_configuration.settings(document)


class Tracer(tracing.Tracer):
    """Makes the spans of an API server, whose name is given."""

    def __init__(self, settings: TracingSettings, server: str, dial: Dialer | None = None) -> None:
        resource = {"service.name": "apiserver", "service.instance.id": server}
        super().__init__(settings, resource, "--tracing-config-file", dial)

    @contextmanager
    def request(self, request: Request) -> Iterator[Span]:
        """Make the span of a request, which what is done for it has as its parent."""
        carrier = {name: value for name in tracing.CARRIED if (value := request.header(name.encode()))}
        trusted = request.user is not None and not _TRUSTED.isdisjoint(request.user.groups)
        attributes = {
            "http.request.method": request.method,
            "http.target": request.path,
            "audit-id": request.audit_id.decode("latin-1"),
        }
        with self.served(span_name(request), carrier, attributes, trusted=trusted) as span:
            try:
                yield span
            except StatusError as error:
                span.set_attribute("http.response.status_code", error.code)
                raise


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
