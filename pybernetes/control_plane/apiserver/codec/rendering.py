"""Stored objects in the form that a client asked for: plain, as a Table, or metadata alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pybernetes.api import errors, protobuf, table
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.codec.negotiation import PROTOBUF, Representation, encode, for_errors
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.store.protocol import Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import Response

# How much less work JSON is than most of what is done with an object, and to copy bytes than that.
_CHEAPER = 8
_COPIED = 256


def is_plain(form: Representation) -> bool:
    """Return whether the stored bytes can go out as they are."""
    return not form.transform and not form.pretty and form.media == "application/json"


def work(kind: Kind, records: Sequence[Record], form: Representation) -> int:
    """Return how much work it is to write records in a form, in bytes: see ``off_loop.run``."""
    if is_plain(form) or form is PROTOBUF:
        copied = sum([len(record.value) for record in records]) // _COPIED + len(records) * _CHEAPER
        if form is PROTOBUF:
            copied += sum([len(record.value) for record in records if not kind.is_encoded(record)])
        return copied
    if len(records) > off_loop.MANY:
        return off_loop.LARGE + 1
    size = sum(len(record.value) for record in records)
    return size if form.media == "application/yaml" else size // _CHEAPER


def content_type(form: Representation) -> bytes:
    """Return the Content-Type of an answer in a form."""
    return form.media.encode()


def partial(obj: Object, version: str = "v1") -> Object:
    """Return an object's metadata alone."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": obj.get("metadata", {}),
    }


def row(kind: Kind, obj: Object, now: float, include: str) -> dict[str, Any]:
    """Return an object as a row of a Table; ``include`` is None, Object or Metadata."""
    result: dict[str, Any] = {"cells": table.cells(kind.resource.columns or table.PLAIN, obj, now)}
    if include == "Object":
        result["object"] = obj
    elif include == "None":
        result["object"] = None
    else:
        result["object"] = partial(obj)
    return result


def as_table(
    kind: Kind, rows: list[dict[str, Any]], meta: dict[str, Any], version: str, columns: bool = True
) -> dict[str, Any]:
    """Return rows under their headings."""
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": meta,
        "columnDefinitions": table.definitions(kind.resource) if columns else None,
        "rows": rows,
    }


def is_a_list(kind: Kind) -> errors.StatusError:
    """Return the error for a client that asks for a list and for the metadata of one object."""
    name = f"*core.{kind.resource.list_kind}"
    return _not_acceptable(
        f"you requested PartialObjectMetadata, but the requested object is a list ({name})"
    )


def _not_acceptable(message: str) -> errors.StatusError:
    return errors.StatusError(406, "NotAcceptable", message)


def plain(kind: Kind, record: Record, status: int = 200) -> Response:
    """Return the answer with one stored object as it is."""
    return Response(kind.data(record) + b"\n", status)


def one(
    kind: Kind, record: Record, form: Representation, now: float, include: str = "Metadata", status: int = 200
) -> Response:
    """Return the answer with one stored object."""
    if is_plain(form):
        return plain(kind, record, status)
    if form is PROTOBUF:
        raw = protobuf.item_message(kind.message_item(record))
        body = protobuf.envelope(kind.resource.api_version, kind.resource.kind, raw)
        return Response(body, status, content_type(form))
    return render(kind, kind.object(record), form, now, include, status)


def render(
    kind: Kind, obj: Object, form: Representation, now: float, include: str = "Metadata", status: int = 200
) -> Response:
    """Return the answer with one object that is not stored as it is."""
    value: Any
    if form.transform == "PartialObjectMetadataList":
        name = f"*core.{kind.resource.kind}"
        raise _not_acceptable(
            f"you requested PartialObjectMetadataList, but the requested object is not a list ({name})"
        )
    if form.transform == "Table":
        meta = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        value = as_table(kind, [row(kind, obj, now, include)], meta, form.version)
    elif form.transform:
        value = partial(obj, form.version)
    else:
        value = kind.shown(obj)
    return Response(encode(value, form), status, content_type(form))


def status(body: Object, request: Request, code: int = 200) -> Response:
    """Return the answer with a Status, in the form that errors have too."""
    form = for_errors(request)
    return Response(encode(body, form), code, content_type(form))


def as_list(kind: Kind, objects: list[Object], meta: dict[str, Any]) -> dict[str, Any]:
    """Return a list of objects, which do not repeat what the list says of their kind."""
    for obj in objects:
        obj.pop("kind", None)
        obj.pop("apiVersion", None)
    resource = kind.resource
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": meta,
        "items": objects,
    }


def joined(kind: Kind, records: Sequence[Record], form: Representation) -> bytes:
    """Return the items of a list, in JSON or in protobuf, whose bytes exist already."""
    if form is PROTOBUF:
        return b"".join([kind.message_item(record) for record in records])
    return b",".join(kind.items(records))


def list_parts(
    kind: Kind, meta: dict[str, Any], items: bytes, form: Representation
) -> tuple[bytes, bytes, bytes]:
    """Return a list of joined items, in parts."""
    if form is PROTOBUF:
        return protobuf.list_parts(kind.resource.api_version, kind.resource.list_kind, meta, items)
    return list_head(kind, meta), items, b"]}\n"


def list_head(kind: Kind, meta: dict[str, Any]) -> bytes:
    """Return the beginning of a list, up to its items."""
    head = orjson.dumps(
        {"kind": kind.resource.list_kind, "apiVersion": kind.resource.api_version, "metadata": meta}
    )
    return head[:-1] + b',"items":['


def listing(
    kind: Kind, records: list[Record], meta: dict[str, Any], form: Representation, now: float, include: str
) -> bytes:
    """Return a list in a form."""
    if is_plain(form) or form is PROTOBUF:
        return b"".join(list_parts(kind, meta, joined(kind, records, form), form))
    objects = [kind.object(record) for record in records]
    if form.transform == "Table":
        value = as_table(kind, [row(kind, obj, now, include) for obj in objects], meta, form.version)
    elif form.transform:
        value = {
            "kind": "PartialObjectMetadataList",
            "apiVersion": f"meta.k8s.io/{form.version}",
            "metadata": meta,
            "items": [partial(obj, form.version) for obj in objects],
        }
    else:
        value = as_list(kind, objects, meta)
    return encode(value, form)
