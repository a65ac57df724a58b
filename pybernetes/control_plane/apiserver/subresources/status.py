"""status: what the system says of an object, written apart from what users want of it."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.kinds import Kind
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.update_rules import StatusRules, UpdateRules
from pybernetes.control_plane.apiserver.verbs.get import get
from pybernetes.control_plane.apiserver.verbs.patch import patch
from pybernetes.control_plane.apiserver.verbs.update import update


def handle(api: Api, request: Request, kind: Kind) -> Any:
    """Reads the object, or writes its status alone."""
    return with_rules(api, request, kind, StatusRules(kind.resource))


def with_rules(api: Api, request: Request, kind: Kind, rules: UpdateRules) -> Any:
    """get, update and patch of a subresource that is the object itself under other rules."""
    match request.info.verb:
        case "get":
            return get(api, request, kind)
        case "update":
            return update(api, request, kind, rules)
        case "patch":
            return patch(api, request, kind, rules)
    raise errors.method_not_allowed()
