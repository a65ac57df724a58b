"""Finds who answers a request: a verb, a subresource, a kind that is not stored, or a path of the server itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.api import errors
from pybernetes.api.text import go_format
from pybernetes.api.validation.names import path_segment
from pybernetes.control_plane import apiserver
from pybernetes.control_plane.apiserver.codec import decoded_size, negotiation
from pybernetes.control_plane.apiserver.codec.body_weight import body_weight
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.discovery import subresource_kinds
from pybernetes.control_plane.apiserver.pipeline.own_paths import OwnPaths
from pybernetes.control_plane.apiserver.pipeline.step import at_hand
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
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
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.memory.memory_shares import NoRoom

Answering = Answer | Awaitable[Answer]
Handle = Callable[[ServerContext, Request, Kind], Answering]
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


class Router:
    """Finds who answers; ``aggregator`` answers for groups that other servers serve, and gives None for all others."""

    def __init__(
        self,
        context: ServerContext,
        own_paths: OwnPaths,
        aggregator: Callable[[Request], Answering | None] = lambda request: None,
    ) -> None:
        self.context, self.own_paths, self.aggregator = context, own_paths, aggregator
        self._memory = decoded_size.shares()
        package = apiserver.__name__
        self.subresources: dict[str, Handle] = discover(f"{package}.subresources", "handle")
        self.virtual_resources: dict[str, Handle] = discover(f"{package}.virtual_resources", "handle")

    def __call__(self, request: Request) -> Answering:
        elsewhere = self.aggregator(request)
        if elsewhere is not None:
            return elsewhere
        if request.body and request.request_info.subresource != "proxy":
            request.weight = body_weight(request)
            if request.weight > off_loop.LARGE:
                return self._large(request)
        return self._answer(request)

    async def _large(self, request: Request) -> Answer:
        """Answer a request with a large body when there is memory for what it is decoded to."""
        size = decoded_size.decoded_size(request)
        if size > self._memory.room:
            raise errors.too_large("this server does not have the memory to decode it")
        try:
            async with self._memory.take(request.user.name, size):
                return await at_hand(self._answer(request))
        except NoRoom:
            raise errors.too_many_requests(
                "too many large requests of this user, please try again later"
            ) from None

    def _answer(self, request: Request) -> Answering:
        info = request.request_info
        if not info.is_resource:
            return self.own_paths(request)
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
        if kind.resource.plural in self.virtual_resources:
            if not kind.resource.columns:
                negotiation.plain(request)  # what is not stored has no table
            return self.virtual_resources[kind.resource.plural](self.context, request, kind)
        return VERBS[info.verb](self.context, request, kind)

    def _subresource(self, request: Request, kind: Kind) -> Answering:
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
        possible = subresource_kinds.verbs(name)
        if not proxy and (request.request_info.verb not in possible or request.method == "HEAD"):
            raise errors.method_not_allowed()
        if rules is not None:
            return with_rules(self.context, request, kind, OwnRules(kind.resource, rules, name))
        return self.subresources[name](self.context, request, kind)
