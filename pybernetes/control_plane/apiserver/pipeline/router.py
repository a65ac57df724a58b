"""What is behind the chain: the kinds with their verbs, and the server's own paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import orjson

from pybernetes.api import errors, zpages
from pybernetes.api.text import go_format
from pybernetes.api.validation.names import path_segment
from pybernetes.control_plane import apiserver
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.codec.accept import etag_matches
from pybernetes.control_plane.apiserver.codec.negotiation import wants_pretty
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.discovery import subresource_kinds
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.observability import version
from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.observability.metrics import Metrics
from pybernetes.control_plane.apiserver.openapi import OpenApi
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kinds import Kind
from pybernetes.control_plane.apiserver.storage.update_rules import OwnRules
from pybernetes.control_plane.apiserver.subresources.status import with_rules
from pybernetes.control_plane.apiserver.verbs.create import create
from pybernetes.control_plane.apiserver.verbs.delete import delete, delete_collection
from pybernetes.control_plane.apiserver.verbs.get import get
from pybernetes.control_plane.apiserver.verbs.list import list_
from pybernetes.control_plane.apiserver.verbs.patch import patch
from pybernetes.control_plane.apiserver.verbs.update import update
from pybernetes.control_plane.apiserver.verbs.watch import watch
from pybernetes.lib.discover import discover
from pybernetes.lib.http.messages import Response

Handle = Callable[[ServerContext, Request, Kind], Any]
VERBS: dict[str, Handle] = {
    "get": get,
    "list": list_,
    "watch": watch,
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
    "deletecollection": delete_collection,
}


# What upstream answers where not even an error has a form.
_NO_PAGE = Response(
    b"404 page not found\n", 404, b"text/plain; charset=utf-8", ((b"X-Content-Type-Options", b"nosniff"),)
)


class Router:
    """Finds who answers a request."""

    def __init__(
        self,
        context: ServerContext,
        discovery: Discovery,
        openapi: OpenApi,
        health: Health,
        metrics: Metrics,
        aggregator: Callable[[Request], Any] = lambda request: None,
        flags: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``aggregator`` answers for the groups that other servers serve, and gives None for all others."""
        self.context, self.discovery, self.openapi = context, discovery, openapi
        self.health, self.metrics = health, metrics
        package = apiserver.__name__
        self.subresources: dict[str, Handle] = discover(f"{package}.subresources", "handle")
        self.reviews: dict[str, Handle] = discover(f"{package}.virtual_resources", "handle")
        self.aggregator = aggregator
        self.zpages = zpages.Zpages("apiserver", flags, self._paths)

    def __call__(self, request: Request) -> Any:
        elsewhere = self.aggregator(request)
        if elsewhere is not None:
            return elsewhere
        info = request.request_info
        if not info.is_resource:
            return self._own_path(request)
        kind = self.context.kinds.get(info.group, info.version, info.resource)
        if (
            kind is None
            or info.verb == "proxy"
            or (info.namespace and not kind.namespaced and info.resource != "namespaces")
        ):
            raise errors.no_such_resource()
        request.kind = kind
        if kind.resource.deprecated:
            request.warn(kind.resource.deprecated)
        if info.subresource:
            return self._subresource(request, kind)
        if kind.namespaced and not info.namespace:
            # Across all namespaces objects are only looked at.
            listed = not info.name and "list" in kind.resource.verbs
            if not listed or (kind.resource.decode is not None and info.verb not in ("list", "watch")):
                raise errors.no_such_resource()
            if info.verb not in ("list", "watch"):
                raise errors.method_not_allowed()
        # Objects are made in a collection, and changed one at a time; nobody asks for headers alone.
        misplaced = (
            bool(info.name) if info.verb == "create" else not info.name and info.verb in ("update", "patch")
        )
        if info.verb not in kind.resource.verbs or misplaced or request.method == "HEAD":
            raise errors.method_not_allowed()
        if info.name in (".", "..") or "%" in info.name:
            problems = "; ".join(path_segment(info.name))
            raise errors.bad_request(f"Name parameter invalid: {go_format.quote(info.name)}: {problems}")
        if kind.resource.plural in self.reviews:
            if not kind.resource.columns:
                negotiation.plain(request)  # what is not stored has no table
            return self.reviews[kind.resource.plural](self.context, request, kind)
        return VERBS[info.verb](self.context, request, kind)

    def _subresource(self, request: Request, kind: Kind) -> Any:
        name = request.request_info.subresource
        rules = kind.resource.rules.get(name)
        known = name in kind.resource.subresources and (rules or name in self.subresources)
        proxy = name == "proxy"
        if (
            not known
            or not request.request_info.name
            or (kind.namespaced and not request.request_info.namespace)
        ):
            raise errors.no_such_resource()
        if request.request_info.rest and not proxy:
            raise errors.no_such_resource()
        verbs = subresource_kinds.describe(kind.resource, name).verbs
        if not proxy and (request.request_info.verb not in verbs or request.method == "HEAD"):
            raise errors.method_not_allowed()
        if rules is not None:
            return with_rules(self.context, request, kind, OwnRules(kind.resource, rules, name))
        return self.subresources[name](self.context, request, kind)

    def _own_path(self, request: Request) -> Any:
        path = request.path
        first = path.split("/", 2)[1] if path.startswith("/") else ""
        if first in ("healthz", "livez", "readyz"):
            return self._health(request)
        if request.method != "GET" and path != "/apis" and (first in ("api", "apis") or path == "/version"):
            if path in self._paths():
                raise errors.method_not_allowed()
            return _NO_PAGE
        if path == "/version" or path == "/version/":
            return Response(orjson.dumps(version.document(), option=orjson.OPT_INDENT_2))
        if first == "metrics" and path == "/metrics":
            content_type, body = self.metrics.render()
            return Response(body, 200, content_type)
        if path in zpages.PATHS:
            return self._zpage(request)
        if path.rstrip("/") in self.context.authentication.documents:
            return self.context.authentication.documents[path.rstrip("/")]
        if first == "openapi":
            return self._openapi(request)
        if first in ("api", "apis"):
            return self._discovery(request)
        if path in ("/", "/index.html"):
            return Response(orjson.dumps({"paths": self._paths()}, option=orjson.OPT_INDENT_2))
        return _NO_PAGE

    def _paths(self) -> list[str]:
        return sorted(
            {
                *self.discovery.paths(),
                *self.health.paths(),
                *self.context.authentication.documents,
                *zpages.PATHS,
                "/metrics",
                "/openapi/v2",
                "/openapi/v3",
                "/version",
            }
        )

    async def _health(self, request: Request) -> Response:
        found = await self.health.respond(request.path, request.query_text)
        if found is None:
            return _NO_PAGE
        status, headers, body = found
        return Response(body, status, headers.pop("Content-Type").encode(), _bytes(headers))

    def _zpage(self, request: Request) -> Response:
        found = self.zpages.answer(request.path, request.header(b"accept"))
        return Response(found.body, found.status, found.content_type.encode(), _bytes(dict(found.headers)))

    def _openapi(self, request: Request) -> Response:
        found = self.openapi.respond(
            request.path,
            request.query_text,
            request.header(b"accept"),
            request.header(b"if-none-match"),
            request.header(b"accept-encoding"),
        )
        if found is None:
            raise errors.no_such_resource()
        status, headers, body = found
        return Response(
            body, status, headers.pop("Content-Type", "application/json").encode(), _bytes(headers)
        )

    def _discovery(self, request: Request) -> Response:
        found = self.discovery.respond(request.path, request.header(b"accept"), wants_pretty(request))
        if found is None:
            prefix, _, rest = request.path.strip("/").partition("/")
            if prefix == "api" or rest.partition("/")[0] in self.discovery.groups():
                raise errors.no_such_resource()  # what is known, at another version
            return _NO_PAGE
        content_type, body, etag = found
        headers: tuple[tuple[bytes, bytes], ...] = ()
        if etag:
            headers = ((b"Vary", b"Accept"), (b"ETag", etag.encode()))
            if etag_matches(request.header(b"if-none-match"), etag):
                return Response(b"", 304, content_type.encode(), headers)
        return Response(body, 200, content_type.encode(), headers)


def _bytes(headers: dict[str, str]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.encode(), value.encode()) for name, value in headers.items())
