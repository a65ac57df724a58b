"""list: many objects, whole or in chunks, of one moment."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.codec.negotiation import Representation
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import ListOptions, list_options, revision
from pybernetes.control_plane.apiserver.storage.selection import Selection
from pybernetes.control_plane.apiserver.verbs.get import wait_for
from pybernetes.control_plane.store.past import Past
from pybernetes.control_plane.store.protocol import Compacted, Damaged, FutureRevision, Page, Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import PartedResponse, Response

# What the items of lists in protobuf are kept under, beside the version.
_MESSAGES = ";protobuf"
_CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


def list_(context: ServerContext, request: Request, kind: Kind) -> Response | Awaitable[Response]:
    """Answer with a list."""
    options = list_options(request, watch=False)
    store = context.store
    wanted = revision(options.resource_version)
    exact = options.match == "Exact" or (
        bool(options.limit) and wanted and not options.match and not options.token
    )
    if store.revision < wanted or not (store.local or options.resource_version) or kind.awaits_webhook:
        # etcd is asked before anything else is done.
        newest = None if wanted else context.fresh()
        return _list_later(context, request, kind, options, wanted, bool(exact), newest)
    return _answer(context, request, kind, options, wanted if exact else 0)


async def _list_later(
    context: ServerContext,
    request: Request,
    kind: Kind,
    options: ListOptions,
    wanted: int,
    exact: bool,
    newest: Awaitable[None] | None,
) -> Response:
    await wait_for(context, wanted, newest)
    at = wanted if exact else 0
    while kind.awaits_webhook:
        records = await _candidates(context, request, kind, options, at)
        try:
            if not kind.unconverted(records):
                break
        except Damaged:
            break  # the answer says so
        await kind.convert(records)
    answer = _answer(context, request, kind, options, at)
    return answer if isinstance(answer, Response) else await answer


async def _candidates(
    context: ServerContext, request: Request, kind: Kind, options: ListOptions, at: int
) -> list[Record]:
    """Return the records that an answer may have in it; what is wrong with the request is told later."""
    prefix = kind.collection(request.request_info.namespace)
    start = ""
    if options.token:
        start, at = _decode_token(options.token, prefix)
    at = 0 if at == context.store.revision or at < 0 else at
    limit = 0 if options.label_selector or options.field_selector else options.limit
    try:
        if not at:
            return context.store.list(prefix, start=start, limit=limit).records
        past = context.store.past(prefix, start=start, limit=limit, revision=at)
        return (await off_loop.run(_work(past), past.page)).records
    except (Compacted, FutureRevision):
        return []


def _answer(
    context: ServerContext, request: Request, kind: Kind, options: ListOptions, at: int
) -> Response | Awaitable[Response]:
    try:
        answer = _list(context, request, kind, options, at)
    except Damaged:
        raise _damaged(context, request, kind) from None
    return answer if isinstance(answer, Response) else _awaited(context, request, kind, answer)


async def _awaited(
    context: ServerContext, request: Request, kind: Kind, answer: Awaitable[Response]
) -> Response:
    try:
        return await answer
    except Damaged:
        raise _damaged(context, request, kind) from None


def _damaged(context: ServerContext, request: Request, kind: Kind) -> errors.StatusError:
    return damage.list_status(
        kind, context.store.list(kind.collection(request.request_info.namespace)).records
    )


def _list(
    context: ServerContext, request: Request, kind: Kind, options: ListOptions, at: int
) -> Response | Awaitable[Response]:
    form = negotiation.representation(request, bool(kind.message))
    prefix = kind.collection(request.request_info.namespace)
    local = request.local if rendering.is_plain(form) else None
    plain = not (options.label_selector or options.field_selector or options.token or at)
    if plain and (form is negotiation.PROTOBUF or rendering.is_plain(form)) and local is None:
        return _first(context, kind, prefix, options.limit, form)
    if form.transform == "PartialObjectMetadata":
        raise rendering.is_a_list(kind)
    selection = Selection(kind, options)
    source = _read(context, prefix, selection, options, at)
    now, include = context.clock(), request.parameter("includeObject") or "Metadata"

    def build(page: Page) -> Response:
        records, meta = _chosen(page, prefix, selection, options.limit)
        if local is not None:
            return local.listing(kind, records, meta)
        body = rendering.listing(kind, records, meta, form, now, include)
        return Response(body, 200, rendering.content_type(form))

    if isinstance(source, Past) and source.is_much:
        return _beside(partial(_build_past, source, build))
    page = source.page() if isinstance(source, Past) else source
    work = rendering.work(kind, page.records, form)
    return _beside(lambda: build(page)) if work > off_loop.LARGE else build(page)


async def _beside(build: Callable[[], Response]) -> Response:
    """Return what takes long to make without holding the event loop."""
    return await off_loop.beside(build)


def _first(
    context: ServerContext, kind: Kind, prefix: str, limit: int, form: Representation
) -> Response | Awaitable[Response]:
    """Return a list from its beginning: what was joined for the last one is used again until something changes."""
    store = context.store
    changed = store.changed(prefix)
    page = None
    if limit:
        page = store.list(prefix, limit=limit)
        limit = limit if page.more else 0  # all of it is there
    meta = {"resourceVersion": str(store.revision)} if page is None else _page_meta(page, prefix)
    kept_as = kind.form if form is not negotiation.PROTOBUF else kind.form + _MESSAGES
    items = context.lists.get(kept_as, prefix, limit, changed)
    if items is None:
        records = (page or store.list(prefix)).records
        if (work := rendering.work(kind, records, form)) > off_loop.LARGE:
            return _first_later(context, kind, (kept_as, prefix, limit, changed), meta, form, records, work)
        items = rendering.joined(kind, records, form)
        context.lists.put(kept_as, prefix, limit, changed, items)
    return _list_of(kind, meta, items, form)


async def _first_later(
    context: ServerContext,
    kind: Kind,
    place: tuple[str, str, int, int],
    meta: dict[str, Any],
    form: Representation,
    records: list[Record],
    work: int,
) -> Response:
    items = await off_loop.run(work, rendering.joined, kind, records, form)
    context.lists.put(*place, items)
    return _list_of(kind, meta, items, form)


def _list_of(kind: Kind, meta: dict[str, Any], items: bytes, form: Representation) -> Response:
    """Return a list whose items it shares with others."""
    return PartedResponse(rendering.list_parts(kind, meta, items, form), rendering.content_type(form))


def _build_past(past: Past, build: Callable[[Page], Response]) -> Response:
    return build(past.page())


def _work(past: Past) -> int:
    return off_loop.LARGE + 1 if past.is_much else 0


def _read(
    context: ServerContext, prefix: str, selection: Selection, options: ListOptions, at: int
) -> Page | Past:
    """Return the objects that a list is made from."""
    store = context.store
    start = ""
    if options.token:
        start, at = _decode_token(options.token, prefix)
    # A negative revision is of a token that goes on with whatever is there now.
    at = 0 if at == store.revision or at < 0 else at
    try:
        limit = options.limit if selection.match is None else 0
        if at:
            return store.past(prefix, start=start, limit=limit, revision=at)
        return store.list(prefix, start=start, limit=limit)
    except Compacted:
        if not options.token:
            raise errors.expired("The resourceVersion for the provided list is too old.") from None
        error = errors.expired(_CONTINUE_EXPIRED)
        error.continue_token = _encode_token(start, prefix, -1)  # type: ignore[attr-defined]
        raise error from None
    except FutureRevision as error:
        raise errors.too_large_resource_version(error.revision, error.current) from None


def _chosen(page: Page, prefix: str, selection: Selection, limit: int) -> tuple[list[Record], dict[str, Any]]:
    """Return the records of a list and its metadata."""
    match = selection.match
    if match is None:
        return page.records, _page_meta(page, prefix)
    meta: dict[str, Any] = {"resourceVersion": str(page.revision)}
    matching: list[Record] = []
    for record in page.records:
        if match(record):
            if limit and len(matching) == limit:
                meta["continue"] = _encode_token(matching[-1].key + "\0", prefix, page.revision)
                break
            matching.append(record)
    return matching, meta


def _page_meta(page: Page, prefix: str) -> dict[str, Any]:
    """Return the metadata of a list that is a page of all there is."""
    meta: dict[str, Any] = {"resourceVersion": str(page.revision)}
    if page.more:
        meta["continue"] = _encode_token(page.records[-1].key + "\0", prefix, page.revision)
        meta["remainingItemCount"] = page.remaining
    return meta


def _encode_token(key: str, prefix: str, at: int) -> str:
    """Return a continue token in upstream's form; keys are relative to the prefix, so that it opens no other."""
    value = {"v": "meta.k8s.io/v1", "rv": at, "start": key[len(prefix) :]}
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def _decode_token(token: str, prefix: str) -> tuple[str, int]:
    bad = errors.bad_request("continue key is not valid")
    try:
        value = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        start, at = value["start"], value["rv"]
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise bad from None
    if (
        not isinstance(start, str)
        or not isinstance(at, int)
        or not start
        or value.get("v") != "meta.k8s.io/v1"
    ):
        raise bad
    if ".." in start.split("/"):
        raise errors.bad_request(f"continue key is not valid: {start}")
    return prefix + start.lstrip("/"), at
