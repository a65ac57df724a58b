"""An API server behind the API server: it answers reads of its groups, for those whom the API server lets read them."""

from __future__ import annotations

import inspect
import logging
import ssl
from collections.abc import Mapping, Sequence

import orjson

from pybernetes import KUBERNETES_VERSION
from pybernetes.api import errors
from pybernetes.api.forbidden import forbidden
from pybernetes.api.request_info import RequestInfo, parse
from pybernetes.api.resource import Object
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import PartedResponse, Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.runtime.aggregated_api import documents
from pybernetes.runtime.aggregated_api.api_group import ApiGroup
from pybernetes.runtime.aggregated_api.json_answer import JsonAnswer
from pybernetes.runtime.component_server import Handler
from pybernetes.runtime.delegated_auth import DelegatedAuth, Refused

log = logging.getLogger(__name__)
_LIMITS = Limits(body=64 * 1024, head=64 * 1024)
_HEADERS = b"Cache-Control: no-cache, private\r\nX-Content-Type-Options: nosniff\r\n"


def status_response(error: errors.StatusError) -> Response:
    """Return an error as the API tells it."""
    return Response(orjson.dumps(error.body()), error.code)


def _refusal(code: int, message: str) -> Response:
    return status_response(errors.StatusError(code, "BadRequest" if code == 400 else "", message))


class AggregatedServer:
    """Serve groups, and pages such as /readyz and /metrics beside them."""

    def __init__(self, groups: Sequence[ApiGroup], auth: DelegatedAuth, pages: Mapping[str, Handler]) -> None:
        self._groups = {served.group: served for served in groups}
        self._auth, self._pages = auth, pages
        self._server = Server(self._answer, _refusal, _LIMITS, headers=_HEADERS)
        self.port = 0

    async def start(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listen; return the port, which matters when it was asked for port 0."""
        self.port = await self._server.start(host, port, context)
        return self.port

    async def stop(self) -> None:
        """Stop listening and drop clients."""
        await self._server.stop()

    async def _answer(self, request: Request) -> Response:
        info = parse(request.method, request.path, request.parameter("watch") in ("true", "1"))
        try:
            await self._authorize(request, info)
            return await self._route(request, info)
        except errors.StatusError as error:
            return status_response(error)
        except OSError as error:
            return _unavailable(error)

    async def _authorize(self, request: Request, info: RequestInfo) -> None:
        attributes = _attributes(info) if info.is_resource else None
        try:
            await self._auth.authorize(request, attributes)
        except Refused as refused:
            raise (forbidden(refused.user, info) if refused.user else errors.unauthorized()) from None
        except (errors.StatusError, OSError) as error:  # this server's own trouble, not the caller's
            raise errors.internal(f"the API server cannot be asked: {error}") from None

    async def _route(self, request: Request, info: RequestInfo) -> Response:
        page = self._pages.get(request.path) or self._pages.get("/" + request.path.strip("/").split("/")[0])
        if not info.is_resource and page is not None:
            if request.method not in ("GET", "HEAD"):
                raise errors.method_not_allowed()
            shown = page(request)
            return await shown if inspect.isawaitable(shown) else shown
        served = self._groups.get(info.group)
        if info.is_resource and served is not None and info.version == served.version:
            if info.verb not in ("get", "list"):
                raise errors.method_not_allowed()
            answer = await served.answer(info, request)
            return (
                PartedResponse(answer.texts)
                if isinstance(answer, JsonAnswer)
                else Response(orjson.dumps(answer))
            )
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        if request.path.startswith(("/apis", "/openapi")):
            for served in self._groups.values():
                await served.refresh()
        return self._document(request)

    def _document(self, request: Request) -> Response:
        path, groups = request.path.rstrip("/"), list(self._groups.values())
        if path == "/apis" and documents.wants_aggregated(request.header(b"accept")):
            return Response(
                orjson.dumps(documents.aggregated(groups)), content_type=documents.AGGREGATED_TYPE.encode()
            )
        document: Object | None = None
        if path == "/apis":
            document = documents.group_list(groups)
        elif path == "/openapi/v2":
            document = documents.openapi_v2(groups)
        elif path == "/openapi/v3":
            document = {
                "paths": {
                    f"apis/{served.group_version}": {
                        "serverRelativeURL": f"/openapi/v3/apis/{served.group_version}"
                    }
                    for served in groups
                }
            }
        elif path == "/version":
            document = {"gitVersion": KUBERNETES_VERSION}
        for served in groups:
            if path == f"/apis/{served.group}":
                document = documents.group(served)
            elif path == f"/apis/{served.group_version}":
                document = documents.resource_list(served)
            elif path == f"/openapi/v3/apis/{served.group_version}":
                document = documents.openapi_v3(served)
        if document is None:
            raise errors.no_such_resource()
        return Response(orjson.dumps(document))


def _unavailable(error: Exception) -> Response:
    log.warning("a request cannot be answered: %s", error)
    return status_response(errors.unavailable(str(error)))


def _attributes(info: RequestInfo) -> Object:
    """Return what a request asks for, in the words of a SubjectAccessReview."""
    names = ("verb", "group", "version", "resource", "subresource", "namespace", "name")
    return {name: getattr(info, name) for name in names if getattr(info, name)}
