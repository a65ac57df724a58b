"""list: many objects, whole or in chunks, of one moment."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import ListOptions, list_options, revision
from pybernetes.control_plane.apiserver.storage.selection import Selection
from pybernetes.control_plane.apiserver.verbs.get import wait_for
from pybernetes.control_plane.store.protocol import Compacted, Damaged, FutureRevision, Record
from pybernetes.lib.http.messages import PartedResponse, Response

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
        return _list_later(context, request, kind, options, wanted, bool(exact))
    return _answer(context, request, kind, options, wanted if exact else 0)


async def _list_later(
    context: ServerContext, request: Request, kind: Kind, options: ListOptions, wanted: int, exact: bool
) -> Response:
    await wait_for(context, wanted)
    at = wanted if exact else 0
    while kind.awaits_webhook:
        records = _candidates(context, request, kind, options, at)
        try:
            if not kind.unconverted(records):
                break
        except Damaged:
            break  # the answer says so
        await kind.convert(records)
    return _answer(context, request, kind, options, at)


def _candidates(
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
        return context.store.list(prefix, start=start, limit=limit, revision=at).records
    except (Compacted, FutureRevision):
        return []


def _answer(context: ServerContext, request: Request, kind: Kind, options: ListOptions, at: int) -> Response:
    try:
        return _list(context, request, kind, options, at)
    except Damaged:
        records = context.store.list(kind.collection(request.request_info.namespace)).records
        raise damage.list_status(kind, records) from None


def _list(context: ServerContext, request: Request, kind: Kind, options: ListOptions, at: int) -> Response:
    form = negotiation.representation(request)
    namespace = request.request_info.namespace
    prefix = kind.collection(namespace)
    if request.local is not None and rendering.is_plain(form):
        records, meta = _select(context, kind, prefix, Selection(kind, options), options, at)
        return request.local.listing(kind, records, meta)
    plain = not (options.label_selector or options.field_selector or options.limit or options.token or at)
    if plain and rendering.is_plain(form):
        return PartedResponse(_whole(context, kind, prefix))
    if form.transform == "PartialObjectMetadata":
        raise rendering.is_a_list(kind)
    selection = Selection(kind, options)
    records, meta = _select(context, kind, prefix, selection, options, at)
    include = request.parameter("includeObject") or "Metadata"
    body = rendering.listing(kind, records, meta, form, context.clock(), include)
    return Response(body, 200, rendering.content_type(form))


def _whole(context: ServerContext, kind: Kind, prefix: str) -> tuple[bytes, ...]:
    """Return a whole list in parts: what was joined for the last one is shared until something changes."""
    store = context.store
    version = kind.resource.api_version
    changed = store.changed(prefix)
    items = context.lists.get(kind.form, prefix, changed)
    if items is None:
        items = b",".join(kind.items(store.list(prefix).records))
        context.lists.put(kind.form, prefix, changed, items)
    head = b'{"kind":"%b","apiVersion":"%b","metadata":{"resourceVersion":"%d"},"items":[' % (
        kind.resource.list_kind.encode(), version.encode(), store.revision,
    )  # fmt: skip
    return head, items, b"]}"


def _select(
    context: ServerContext, kind: Kind, prefix: str, selection: Selection, options: ListOptions, at: int
) -> tuple[list[Record], dict[str, Any]]:
    """Return the records of a page and the list's metadata."""
    store = context.store
    start = ""
    if options.token:
        start, at = _decode_token(options.token, prefix)
    at = 0 if at == store.revision else at
    try:
        if at < 0:  # a token that goes on with whatever is there now
            at = 0
        records, more, remaining, shown = _page(context, prefix, start, selection, options.limit, at)
    except Compacted:
        if not options.token:
            raise errors.expired("The resourceVersion for the provided list is too old.") from None
        error = errors.expired(_CONTINUE_EXPIRED)
        error.continue_token = _encode_token(start, prefix, -1)  # type: ignore[attr-defined]
        raise error from None
    except FutureRevision as error:
        raise errors.too_large_resource_version(error.revision, error.current) from None
    meta: dict[str, Any] = {"resourceVersion": str(shown)}
    if more:
        meta["continue"] = _encode_token(more, prefix, shown)
        if selection.match is None:
            meta["remainingItemCount"] = remaining
    return records, meta


def _page(
    context: ServerContext, prefix: str, start: str, selection: Selection, limit: int, at: int
) -> tuple[list[Record], str, int, int]:
    """Return up to ``limit`` matching records, the key at which the next page starts, and how many remain."""
    match = selection.match
    if match is None:
        page = context.store.list(prefix, start=start, limit=limit, revision=at)
        following = page.records[-1].key + "\0" if page.more else ""
        return page.records, following, page.remaining, page.revision
    page = context.store.list(prefix, start=start, revision=at)
    matching: list[Record] = []
    for record in page.records:
        if match(record):
            if limit and len(matching) == limit:
                return matching, matching[-1].key + "\0", 0, page.revision
            matching.append(record)
    return matching, "", 0, page.revision


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
