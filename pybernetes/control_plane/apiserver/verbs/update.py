"""update: the whole object replaced."""

from __future__ import annotations

import orjson

from pybernetes.api import errors
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.codec.decoding import read_object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.object_meta import settle_namespace
from pybernetes.control_plane.apiserver.storage.options import write_options
from pybernetes.control_plane.apiserver.storage.update import create_or_update, update_stored
from pybernetes.control_plane.apiserver.storage.update_rules import UpdateRules
from pybernetes.control_plane.apiserver.verbs.create import answer
from pybernetes.lib.event_loop import json_pieces, off_loop
from pybernetes.lib.http.messages import Response


def _check_version(kind: Kind, obj: Object, name: str) -> None:
    """Check that the client says which version it saw, which some kinds require."""
    resource = kind.resource
    if resource.unconditional_update or obj["metadata"].get("resourceVersion", "0") != "0":
        return
    problems = Errors()
    problems.invalid("metadata.resourceVersion", 0, "must be specified for an update")
    raise errors.invalid(resource.group, resource.plural, name, problems)


async def update(
    context: ServerContext, request: Request, kind: Kind, rules: UpdateRules | None = None
) -> Response:
    """Replace a stored object by the body."""
    form = negotiation.representation(request, bool(kind.message))
    options = write_options(request, "UpdateOptions")
    obj = await read_object(kind.resource, request, options.validation)
    settle_namespace(kind, obj["metadata"], request.request_info.namespace)
    name = obj["metadata"].get("name")
    if not name:
        raise errors.nameless(request.request_info.name)
    if name != request.request_info.name:
        raise errors.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({request.request_info.name})"
        )
    if kind.resource.default is not None:
        await off_loop.run(request.weight, kind.resource.default, obj)

    # A second try after a lost race must start from what the client sent.
    sent = await off_loop.run(request.weight, orjson.dumps, obj)

    def replace(old: Object) -> Object:
        _check_version(kind, obj, name)
        return json_pieces.value(sent)

    def make() -> Object:
        new: Object = json_pieces.value(sent)
        new["metadata"].pop("resourceVersion", None)
        return new

    if kind.resource.create_on_update and rules is None:
        written = await create_or_update(context, kind, make, replace, request, options)
    else:
        written = await update_stored(context, kind, replace, request, options, rules)
    return await answer(context, kind, written, form)
