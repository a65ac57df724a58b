"""The paths of the server itself: health, version, metrics, discovery, OpenAPI, and the index of them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping

import orjson

from pybernetes.api import errors, version, zpages
from pybernetes.control_plane.apiserver.codec.negotiation import wants_pretty
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.accept import etag_matches
from pybernetes.lib.http.messages import Response
from pybernetes.lib.metrics.exposition import Exposition, negotiated
from pybernetes.lib.profiling.profiling import PREFIX, Profiling, ProfilingError

# What upstream answers where not even an error has a form.
_NO_PAGE = Response(
    b"404 page not found\n", 404, b"text/plain; charset=utf-8", ((b"X-Content-Type-Options", b"nosniff"),)
)


class OwnPaths:
    """Answers what is no resource; ``flags`` is what the command line said, for /flagz."""

    def __init__(
        self,
        context: ServerContext,
        discovery: Discovery,
        openapi: OpenApi,
        health: Health,
        flags: Mapping[str, str],
        profiling: Profiling | None = None,
    ) -> None:
        self.profiling = profiling
        self.context, self.discovery, self.openapi, self.health = context, discovery, openapi, health
        self.zpages = zpages.Zpages("apiserver", flags, self.paths)

    def __call__(self, request: Request) -> Response | Awaitable[Response]:
        path = request.path
        first = path.split("/", 2)[1] if path.startswith("/") else ""
        if first in ("healthz", "livez", "readyz"):
            return self._health(request)
        if request.method != "GET" and path != "/apis" and (first in ("api", "apis") or path == "/version"):
            if path in self.paths():
                raise errors.method_not_allowed()
            return _NO_PAGE
        if path == "/version" or path == "/version/":
            return Response(orjson.dumps(version.document(), option=orjson.OPT_INDENT_2))
        if first == "metrics" and path == "/metrics":
            return _metrics(request, self.context.metrics.render, self.context.metrics.native_histograms)
        if path == "/metrics/slis":
            return _metrics(request, self._render_slis)
        if first == "debug" and self.profiling is not None and (path + "/").startswith(f"{PREFIX}/"):
            return self._profile(request, self.profiling)
        if path in zpages.PATHS:
            return self._zpage(request)
        if path.rstrip("/") in self.context.authentication.documents:
            return self.context.authentication.documents[path.rstrip("/")]
        if first == "openapi":
            return self._openapi(request)
        if first in ("api", "apis"):
            return self._discovery(request)
        if path in ("/", "/index.html"):
            return Response(orjson.dumps({"paths": self.paths()}, option=orjson.OPT_INDENT_2))
        return _NO_PAGE

    def paths(self) -> list[str]:
        """Return every path that is served, for the index at ``/``."""
        return sorted(
            {
                *self.discovery.paths(),
                *self.health.paths(),
                *self.context.authentication.documents,
                *zpages.PATHS,
                *(self.profiling.paths() if self.profiling is not None else ()),
                "/metrics",
                "/metrics/slis",
                "/openapi/v2",
                "/openapi/v3",
                "/version",
            }
        )

    async def _health(self, request: Request) -> Response:
        checked = await self.health.respond(request.path, request.query_text)
        if checked is None:
            return _NO_PAGE
        status, headers, body = checked
        return Response(body, status, headers.pop("Content-Type").encode(), _bytes(headers))

    async def _profile(self, request: Request, profiling: Profiling) -> Response:
        try:
            page = await profiling.respond(request.path, request.query_text)
        except ProfilingError as error:
            make = errors.bad_request if error.status == 400 else errors.internal
            raise make(str(error)) from None
        if page is None:
            return _NO_PAGE
        content_type, body = page
        return Response(body, 200, content_type, ((b"X-Content-Type-Options", b"nosniff"),))

    def _render_slis(self, out: Exposition) -> Iterator[None]:
        self.health.slis.write(out)
        yield

    def _zpage(self, request: Request) -> Response:
        page = self.zpages.answer(request.path, request.header(b"accept"))
        return Response(page.body, page.status, page.content_type.encode(), _bytes(dict(page.headers)))

    async def _openapi(self, request: Request) -> Response:
        document = await off_loop.run(
            off_loop.LARGE + 1,
            self.openapi.respond,
            request.path,
            request.query_text,
            request.header(b"accept"),
            request.header(b"if-none-match"),
            request.header(b"accept-encoding"),
        )
        if document is None:
            raise errors.no_such_resource()
        status, headers, body = document
        return Response(
            body, status, headers.pop("Content-Type", "application/json").encode(), _bytes(headers)
        )

    def _discovery(self, request: Request) -> Response:
        document = self.discovery.respond(request.path, request.header(b"accept"), wants_pretty(request))
        if document is None:
            prefix, _, rest = request.path.strip("/").partition("/")
            if prefix == "api" or rest.partition("/")[0] in self.discovery.groups():
                raise errors.no_such_resource()  # what is known, at another version
            return _NO_PAGE
        content_type, body, etag = document
        headers: tuple[tuple[bytes, bytes], ...] = ()
        if etag:
            headers = ((b"Vary", b"Accept"), (b"ETag", etag.encode()))
            if etag_matches(request.header(b"if-none-match"), etag):
                return Response(b"", 304, content_type.encode(), headers)
        return Response(body, 200, content_type.encode(), headers)


async def _metrics(
    request: Request, steps: Callable[[Exposition], Iterator[None]], native: bool = True
) -> Response:
    out, pace = negotiated(request.header(b"accept"), native), off_loop.Pace()
    for _ in steps(out):
        await pace()
    return Response(await off_loop.beside(out.render), 200, out.content_type)


def _bytes(headers: dict[str, str]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.encode(), value.encode()) for name, value in headers.items())
