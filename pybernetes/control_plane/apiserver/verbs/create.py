"""create: a new object."""

from __future__ import annotations

from pybernetes.control_plane.apiserver import negotiation, rendering, writes
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.bodies import read_body
from pybernetes.control_plane.apiserver.decoding import decode
from pybernetes.control_plane.apiserver.http.messages import Response
from pybernetes.control_plane.apiserver.kinds import Kind
from pybernetes.control_plane.apiserver.options import write_options
from pybernetes.control_plane.apiserver.request import Request


async def create(api: Api, request: Request, kind: Kind) -> Response:
    """Stores the object of the body."""
    form = negotiation.representation(request)
    options = write_options(request, "CreateOptions")
    body = read_body(request)
    obj = decode(kind.resource, body, options.validation, request)
    written = await writes.create(api, kind, obj, request, options)
    return answer(api, kind, written, form)


def answer(api: Api, kind: Kind, written: writes.Written, form: negotiation.Representation) -> Response:
    """The answer to a write: the stored object, 201 if it is new."""
    status = 201 if written.created else 200
    if written.record is not None:
        return rendering.one(kind, written.record, form, api.clock(), status=status)
    return rendering.render(kind, written.obj, form, api.clock(), status=status)
