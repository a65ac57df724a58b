"""create: a new object."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.codec.decoding import read_object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.create import create_stored
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import write_options
from pybernetes.control_plane.apiserver.storage.written import Written
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import Response


async def create(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Store the object of the body."""
    form = negotiation.representation(request, bool(kind.message))
    options = write_options(request, "CreateOptions")
    obj = await read_object(kind.resource, request, options.validation)
    written = await create_stored(context, kind, obj, request, options)
    return await answer(context, kind, written, form)


async def answer(
    context: ServerContext, kind: Kind, written: Written, form: negotiation.Representation
) -> Response:
    """Return the answer to a write: the stored object, 201 if it is new."""
    status = 201 if written.created else 200
    now = context.clock()
    if written.record is None:
        return await off_loop.run(
            written.size, rendering.render, kind, written.obj, form, now, "Metadata", status
        )
    if rendering.is_plain(form):
        return rendering.one(kind, written.record, form, now, status=status)
    work = rendering.work(kind, (written.record,), form)
    return await off_loop.run(work, rendering.one, kind, written.record, form, now, "Metadata", status)
