"""What a webhook answered, as the review that it was asked to answer with; what is wrong is told in upstream's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from pybernetes.api.schema.decode import DecodeError, check_base64, json_name
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.codec.bodies import parse_body
from pybernetes.control_plane.apiserver.codec.decoding import HEAD, untyped
from pybernetes.lib.http.messages import Reply

# How upstream calls the list of kinds that webhooks may answer with.
_SCHEME = "k8s.io/apiserver/pkg/util/webhook/client.go:74"
_VERSIONS = ("v1", "v1beta1")
_GENERIC = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    403: "{said}",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


class Unreadable(Exception):
    """The answer is no review; the text says why."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A type as Go names it, what JSON value it takes, and what is in that."""

    go: str
    takes: str
    fields: Mapping[str, Shape] = field(default_factory=dict)
    items: Shape | None = None


_STRING, _BOOL = Shape("string", "string"), Shape("bool", "bool")
_INT32 = Shape("int32", "number")
_BYTES, _ANY = Shape("[]uint8", "string"), Shape("runtime.RawExtension", "")
_TEXTS = Shape("map[string]string", "object", items=_STRING)
_CAUSE = Shape(
    "v1.StatusCause",
    "object",
    {"reason": Shape("v1.CauseType", "string"), "message": _STRING, "field": _STRING},
)
_DETAILS = Shape(
    "v1.StatusDetails",
    "object",
    {
        "name": _STRING,
        "group": _STRING,
        "kind": _STRING,
        "uid": Shape("types.UID", "string"),
        "causes": Shape("[]v1.StatusCause", "array", items=_CAUSE),
        "retryAfterSeconds": _INT32,
    },
)
_STATUS = Shape(
    "v1.Status",
    "object",
    {
        "status": _STRING,
        "message": _STRING,
        "reason": Shape("v1.StatusReason", "string"),
        "code": _INT32,
        "details": _DETAILS,
    },
)
_UID = Shape("types.UID", "string")
_RESPONSES = {
    "AdmissionReview": Shape(
        "v1.AdmissionResponse",
        "object",
        {
            "uid": _UID,
            "allowed": _BOOL,
            "status": _STATUS,
            "patch": _BYTES,
            "patchType": Shape("v1.PatchType", "string"),
            "auditAnnotations": _TEXTS,
            "warnings": Shape("[]string", "array", items=_STRING),
        },
    ),
    "ConversionReview": Shape(
        "v1.ConversionResponse",
        "object",
        {
            "uid": _UID,
            "convertedObjects": Shape("[]runtime.RawExtension", "array", items=_ANY),
            "result": _STATUS,
        },
    ),
}


def decoded(reply: Reply, review: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a review, of its kind and version; Unreadable if it is anything else."""
    text = reply.body.strip()
    if not 200 <= reply.status <= 206:
        raise Unreadable(_refusal(reply))
    if not text:
        media = reply.header(b"content-type")
        raise Unreadable(f"0-length response with status code: {reply.status} and content type: {media}")
    body = parse_body(reply.body, is_yaml=not text.startswith(b"{"))
    if body.problem:
        raise Unreadable(body.problem)
    value = body.value
    if value is None:
        return {}
    if not isinstance(value, dict):
        problem = f"json: cannot unmarshal {json_name(value)} into Go value of type {HEAD}"
        raise Unreadable(f"couldn't get version/kind; json parse error: {problem}")
    if problem := untyped(value):
        raise Unreadable(f"couldn't get version/kind; json parse error: {problem}")
    _check_kind(value, review)
    kind = review["kind"]
    try:
        _check(_RESPONSES[kind], value.get("response"), "response", kind)
    except DecodeError as error:
        raise Unreadable(str(error)) from None
    return value


def _check_kind(value: Mapping[str, Any], review: Mapping[str, Any]) -> None:
    kind, given = value.get("kind") or review["kind"], value.get("apiVersion") or review["apiVersion"]
    if (kind, given) == (review["kind"], review["apiVersion"]):
        return
    group, _, version = review["apiVersion"].partition("/")
    other = given.removeprefix(f"{group}/")
    if kind == review["kind"] and other in _VERSIONS and other != given:
        raise Unreadable(f"converting ({other}.{kind}) to ({version}.{kind}): unknown conversion")
    raise Unreadable(
        f"no kind {go_format.quote(kind)} is registered for version {go_format.quote(given)} in scheme {go_format.quote(_SCHEME)}"
    )


def _check(shape: Shape, value: Any, path: str, owner: str) -> None:
    if value is None or not shape.takes:
        return
    if json_name(value) != shape.takes:
        given = json_name(value)
        raise DecodeError(
            f"json: cannot unmarshal {given} into Go struct field {owner}.{path} of type {shape.go}"
        )
    if shape is _INT32 and not (isinstance(value, int) and -(2**31) <= value < 2**31):
        given = f"number {orjson.dumps(value).decode()}"
        raise DecodeError(
            f"json: cannot unmarshal {given} into Go struct field {owner}.{path} of type {shape.go}"
        )
    if shape is _BYTES:
        check_base64(value)
    if shape.fields:
        for key, item in list(value.items()):
            if item is None:
                del value[key]  # as good as not there
            elif key in shape.fields:
                _check(shape.fields[key], item, f"{path}.{key}", shape.go.rpartition(".")[2])
    elif shape.items is not None:
        for item in value.values() if isinstance(value, dict) else value:
            _check(shape.items, item, path, owner)


def _refusal(reply: Reply) -> str:
    """Return what an answer with a status of failure says: a Status its message, text itself, anything else nothing."""
    body = parse_body(reply.body, is_yaml=False)
    value = None if body.problem else body.value
    if isinstance(value, dict) and value.get("kind") == "Status" and value.get("message"):
        return str(value["message"])
    is_text = reply.header(b"content-type").startswith("text/")
    said = (reply.body.decode(errors="replace").strip() if is_text else "") or "unknown"
    generic = _GENERIC.get(reply.status)
    if generic is not None:
        return generic.format(said=said)
    if reply.status >= 500:
        return f"an error on the server ({go_format.quote(said)}) has prevented the request from succeeding"
    return f"the server responded with the status code {reply.status} but did not return more information"
