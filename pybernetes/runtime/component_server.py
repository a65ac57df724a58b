"""The server of what every component shows: health, readiness and metrics. GET only."""

from __future__ import annotations

import inspect
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeAlias

import orjson

from pybernetes.api import zpages
from pybernetes.api.resource import Object
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import JSON, TEXT, Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.metrics.exposition import Exposition, negotiated
from pybernetes.lib.metrics.health_slis import HealthSlis

Handler: TypeAlias = Callable[[Request], Response | Awaitable[Response]]
# Gives None to go on, or the answer to somebody who may not ask.
AccessCheck: TypeAlias = Callable[[Request], Awaitable[Response | None]]
# None when all is well, or a text that says what is not.
Check: TypeAlias = Callable[[], str | None]
_LIMITS = Limits(body=64 * 1024, head=64 * 1024)
_HEADERS = b"X-Content-Type-Options: nosniff\r\n"


def text(body: bytes, status: int = 200) -> Response:
    """Return a plain text."""
    return Response(body, status, TEXT)


def not_found() -> Response:
    """Return the answer for a path that nothing is at."""
    return text(b"404 page not found\n", 404)


class Checks:
    """Named checks behind a path such as ``/healthz``; ``/healthz/name`` runs one of them."""

    def __init__(self, slis: HealthSlis | None = None) -> None:
        self._checks: dict[str, Check] = {"ping": lambda: None}
        self._slis = HealthSlis() if slis is None else slis

    def add(self, name: str, check: Check) -> None:
        """Add a check."""
        self._checks[name] = check

    def page(self, request: Request) -> Response:
        """Run the checks: ``ok``, or which of them fail."""
        first, _, name = request.path.strip("/").partition("/")
        if name and name not in self._checks:
            return not_found()
        chosen = {name: self._checks[name]} if name else self._checks
        lines, failed = [], False
        for check_name, check in chosen.items():
            problem = check()
            failed = failed or problem is not None
            self._slis.note(check_name, first, problem is None)
            lines.append(
                f"[-]{check_name} failed: {problem}" if problem is not None else f"[+]{check_name} ok"
            )
        if failed:
            return text(("\n".join(lines) + f"\n{first} check failed\n").encode(), 500)
        if "verbose" in request.query_text:
            return text(("\n".join(lines) + f"\n{first} check passed\n").encode())
        return text(b"ok")


def slis_page(slis: HealthSlis) -> Handler:
    """Return the handler of ``/metrics/slis``."""
    return metrics_page(slis.write)


def metrics_page(write: Callable[[Exposition], object], native: Callable[[], bool] = lambda: True) -> Handler:
    """Return the handler of a page of metrics; ``native`` tells whether native histograms may be on it."""

    def show(request: Request) -> Response:
        out = negotiated(request.header(b"accept"), native())
        write(out)
        return Response(out.render(), content_type=out.content_type)

    return show


def zpages_of(name: str, flags: Mapping[str, str], paths: Iterable[str]) -> dict[str, Handler]:
    """Return the handlers of /statusz and /flagz for a component that serves some other paths."""
    pages = zpages.Zpages(name, flags, lambda: paths)

    def show(request: Request) -> Response:
        return zpage(pages, request)

    return dict.fromkeys(zpages.PATHS, show)


def zpage(pages: zpages.Zpages, request: Request) -> Response:
    """Return one of the pages in the form that the caller accepts."""
    answer = pages.answer(request.path, request.header(b"accept"))
    headers = tuple((name.encode(), value.encode()) for name, value in answer.headers)
    return Response(answer.body, answer.status, answer.content_type.encode(), headers)


def profiles() -> dict[str, Handler]:
    """Return the handler of /debug/pprof/: where time and memory go, in the format of pprof."""
    from pybernetes.lib.profiling.profiling import Profiling, ProfilingError  # seldom asked for

    pages = Profiling()

    async def show(request: Request) -> Response:
        try:
            page = await pages.respond(request.path, request.query_text)
        except ProfilingError as error:
            return text(f"{error}\n".encode(), error.status)
        return not_found() if page is None else Response(page[1], content_type=page[0])

    return {"/debug": show}


def configz_of(configurations: Mapping[str, Object]) -> dict[str, Handler]:
    """Return the handler of /configz: the configuration of a component, under the name that upstream's has there."""
    body = orjson.dumps(dict(configurations))
    return {"/configz": lambda request: Response(body, content_type=JSON)}


class ComponentServer:
    """Serve pages. ``pages`` maps paths, or their first parts, to handlers."""

    def __init__(self, pages: Mapping[str, Handler], *, access_check: AccessCheck | None = None) -> None:
        self.pages, self._access_check = pages, access_check
        self._server = Server(self._answer, limits=_LIMITS, headers=_HEADERS)
        self.port = 0

    async def start(self, host: str, port: int, context: ssl.SSLContext | None = None) -> int:
        """Listen; return the port, which matters when it was asked for port 0."""
        self.port = await self._server.start(host, port, context)
        return self.port

    async def stop(self) -> None:
        """Stop listening and drop clients."""
        await self._server.stop()

    async def _answer(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return text(b"method not allowed\n", 405)
        if self._access_check is not None:
            refused = await self._access_check(request)
            if refused is not None:
                return refused
        handler = self.handler(request.path)
        if handler is None:
            return not_found()
        page = handler(request)
        return await page if inspect.isawaitable(page) else page

    def handler(self, path: str) -> Handler | None:
        """Return what answers for a path."""
        return self.pages.get(path) or self.pages.get("/" + path.strip("/").split("/")[0])
