"""status: what the system says of an object, written apart from what users want of it."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.update_rules import StatusRules, UpdateRules
from pybernetes.control_plane.apiserver.verbs.get import get
from pybernetes.control_plane.apiserver.verbs.patch import patch
from pybernetes.control_plane.apiserver.verbs.update import update
from pybernetes.lib.http.messages import Response


def handle(context: ServerContext, request: Request, kind: Kind) -> Response | Awaitable[Response]:
    """Read the object, or write its status alone."""
    return with_rules(context, request, kind, StatusRules(kind.resource))


def with_rules(
    context: ServerContext, request: Request, kind: Kind, rules: UpdateRules
) -> Response | Awaitable[Response]:
    """Get, update or patch a subresource that is the object itself under other rules."""
    match request.request_info.verb:
        case "get":
            return get(context, request, kind)
        case "update":
            return update(context, request, kind, rules)
        case "patch":
            return patch(context, request, kind, rules)
    raise errors.method_not_allowed()
