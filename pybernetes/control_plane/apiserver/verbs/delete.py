"""delete and deletecollection."""

from __future__ import annotations

import asyncio
from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.codec.bodies import read_body
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import damage, deletion
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import (
    DeleteOptions,
    delete_options,
    list_options,
    refuse_ignoring_read_errors,
)
from pybernetes.control_plane.apiserver.storage.selection import Selection
from pybernetes.control_plane.apiserver.storage.unsafe_deletion import VERB, delete_unreadable
from pybernetes.control_plane.store.protocol import Damaged, Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import Response

# Kinds whose deletion answers with the object instead of a Status.
_RETURN_OBJECT = {
    ("", "pods"), ("", "services"), ("", "namespaces"), ("", "persistentvolumes"), ("", "persistentvolumeclaims"),
    ("", "serviceaccounts"), ("", "resourcequotas"), ("", "podtemplates"),
    ("storage.k8s.io", "csidrivers"), ("storage.k8s.io", "csinodes"), ("storage.k8s.io", "storageclasses"),
    ("storage.k8s.io", "volumeattachments"), ("storage.k8s.io", "volumeattributesclasses"),
    ("resource.k8s.io", "deviceclasses"), ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "resourceclaimtemplates"), ("resource.k8s.io", "resourceslices"),
}  # fmt: skip

_AT_A_TIME = 32  # objects of a collection that are being deleted


async def _options(request: Request, kind: Kind) -> DeleteOptions:
    return await off_loop.run(request.weight, _read_options, request, kind)


def _read_options(request: Request, kind: Kind) -> DeleteOptions:
    body = read_body(request).value if request.body else None
    options = delete_options(request, body)
    if body is not None and request.audit is not None:
        request.audit.sent_value(body)
    if kind.resource.deletion_warning and options.policy is None and options.orphan is None:
        request.warn(kind.resource.deletion_warning)
    return options


async def _delete(
    context: ServerContext, request: Request, kind: Kind, key: str, name: str, options: DeleteOptions
) -> deletion.Deleted:
    async def admit(obj: Object) -> None:
        attrs = context.admission.attributes("DELETE", kind.resource, request, None, obj, options.dry_run)
        attrs.name, attrs.options = name, options
        await context.admission.admit(attrs)

    return await deletion.delete(context, kind, key, name, options, admit)


async def delete(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Delete one object, or start to."""
    form = negotiation.representation(request, bool(kind.message))
    options = await _options(request, kind)
    info = request.request_info
    key = kind.key(info.namespace, info.name)
    if options.ignore_read_error:
        return await _delete_unreadable(context, request, kind, key, options)
    outcome = await _delete(context, request, kind, key, info.name, options)
    resource = kind.resource
    status = 202 if not outcome.gone and options.orphan is False else 200
    if outcome.gone and (resource.group, resource.plural) not in _RETURN_OBJECT:
        return rendering.status(_success(kind, outcome.obj), request, status)
    if outcome.record is not None:
        return rendering.one(kind, outcome.record, form, context.clock(), status=status)
    return rendering.render(kind, outcome.obj, form, context.clock(), status=status)


async def _delete_unreadable(
    context: ServerContext, request: Request, kind: Kind, key: str, options: DeleteOptions
) -> Response:
    info, resource = request.request_info, kind.resource
    if request.audit is not None:
        request.audit.annotations["apiserver.k8s.io/unsafe-delete-ignore-read-error"] = ""
    verdict = await context.authorize(request.user, info._replace(verb=VERB))
    if not verdict.allowed:
        why = f"not permitted to do {go_format.quote(VERB)}, reason: {verdict.reason}"
        raise errors.forbidden(resource.group, resource.plural, info.name, why)
    await delete_unreadable(context, kind, key, info.name, options.dry_run)
    details = {"name": info.name, "kind": resource.kind}
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
        "code": 200,
    }
    return rendering.status(status, request)


def _success(kind: Kind, obj: Object) -> dict[str, Any]:
    details = {
        "name": obj["metadata"].get("name", ""),
        "kind": kind.resource.plural,
        "uid": obj["metadata"].get("uid", ""),
    }
    if kind.resource.group:
        details["group"] = kind.resource.group
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


async def delete_collection(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Delete every object that the selectors choose; answer with them as they were."""
    form = negotiation.representation(request, bool(kind.message))
    if form.transform == "PartialObjectMetadata":
        raise rendering.is_a_list(kind)
    options = await _options(request, kind)
    refuse_ignoring_read_errors(
        options, "is not allowed with DELETECOLLECTION, try again after removing the option"
    )
    chosen = list_options(request, watch=False)
    selection = Selection(kind, chosen)
    await context.fresh()
    revision, records = (
        context.store.revision,
        context.store.list(kind.collection(request.request_info.namespace)).records,
    )
    many = off_loop.LARGE * len(records) // off_loop.MANY
    try:
        await kind.convert(records)
        if selection.match is not None:
            records = await off_loop.run(many, selection.chosen, records)
        await off_loop.run(many, kind.items, records)
    except Damaged:
        raise damage.list_status(kind, records) from None

    async def delete_one(record: Record) -> None:
        try:
            await _delete(context, request, kind, record.key, record.key.rpartition("/")[2], options)
        except errors.StatusError as error:
            if error.code != 404:  # someone else was faster
                raise

    # Some at a time: they go to the disk together.
    for start in range(0, len(records), _AT_A_TIME):
        await asyncio.gather(*map(delete_one, records[start : start + _AT_A_TIME]))
    meta = {"resourceVersion": str(revision)}
    body = await off_loop.run(many, rendering.listing, kind, records, meta, form, context.clock(), "Metadata")
    return Response(body, 200, rendering.content_type(form))
