"""get: one object."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import revision
from pybernetes.control_plane.store.protocol import Damaged, Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import Response


def get(context: ServerContext, request: Request, kind: Kind) -> Response | Awaitable[Response]:
    """Answer with one object, from memory and without decoding it."""
    store = context.store
    wanted = revision(request.parameter("resourceVersion")) if request.query_text else 0
    # "0" means that any version will do; without one the newest is asked for.
    any_version = bool(request.query_text) and request.parameter("resourceVersion") == "0"
    if store.revision < wanted or not (store.local or any_version or wanted) or kind.awaits_webhook:
        # etcd is asked before anything else is done.
        return _get_later(context, request, kind, wanted, None if wanted else context.fresh())
    return _read(context, request, kind)


async def _get_later(
    context: ServerContext, request: Request, kind: Kind, wanted: int, newest: Awaitable[None] | None
) -> Response:
    await wait_for(context, wanted, newest)
    if kind.awaits_webhook:
        record = context.store.get(kind.key(request.request_info.namespace, request.request_info.name))
        if record is not None:
            await _prepare(kind, record)
    answer = _read(context, request, kind)
    return answer if isinstance(answer, Response) else await answer


async def _prepare(kind: Kind, record: Record) -> None:
    try:
        await kind.convert((record,))
    except errors.StatusError as error:
        raise Damaged(record.key, record.revision, error.message) from None


async def wait_for(context: ServerContext, wanted: int, newest: Awaitable[None] | None = None) -> None:
    """Wait until memory has a revision (0: whatever is newest, which may have begun to come); 504 if it does not come soon."""
    if not wanted:
        await (newest or context.fresh())
    elif not await context.store.wait(wanted, 3.0):
        raise errors.too_large_resource_version(wanted, context.store.revision)


def _read(context: ServerContext, request: Request, kind: Kind) -> Response | Awaitable[Response]:
    form = negotiation.representation(request, bool(kind.message))
    info = request.request_info
    record = context.store.get(kind.key(info.namespace, info.name))
    if record is None:
        raise errors.not_found(kind.resource.group, kind.resource.plural, info.name)
    if request.query_text and request.parameter("writeTimes") == "true":
        times = context.times(kind)
        if (
            times is not None
        ):  # whoever may see the object may see them; upstream's servers answer with the object
            uid = kind.object(record)["metadata"]["uid"]
            return Response(negotiation.encode(times.document(uid), negotiation.JSON))
    if form is negotiation.JSON:
        return rendering.plain(kind, record)
    include = request.parameter("includeObject") or "Metadata"
    if not rendering.is_plain(form) and (work := rendering.work(kind, (record,), form)) > off_loop.LARGE:
        return off_loop.run(work, rendering.one, kind, record, form, context.clock(), include)
    return rendering.one(kind, record, form, context.clock(), include)
