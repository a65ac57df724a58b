"""A webhook that answers as an attacker would: the write is refused in Kubernetes' words, and nobody else notices."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import create, hook, registered
from tests.hook_server import HookServer, allow, answer, patch
from tests.servers import Server

Object = dict[str, Any]
HEAD = b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true'


def patched(review: Object, text: bytes) -> Object:
    """Say yes, with a patch that is given as text."""
    return allow(review, patch=base64.b64encode(text).decode(), patchType="JSONPatch")


ANSWERS: dict[str, tuple[Any, int, str]] = {
    "nothing": (b"", 500, "0-length response"),
    "a list": (b"[]", 500, "cannot unmarshal array"),
    "bytes": (b"\xff\xfe\0", 500, "error converting YAML"),
    "lists in lists": (b"[" * 100_000, 500, "exceeded max depth"),
    "lists of lists in YAML": (b"- " * 20_000, 500, "exceeded max depth"),
    "objects in objects": (
        HEAD + b',"status":{"details":' + b'{"a":' * 40_000 + b"1" + b"}" * 40_000 + b"}}}",
        500,
        "exceeded max depth",
    ),
    "aliases": (
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % (c, c, *(c - 1,) * 7) for c in range(98, 112)),
        500,
        "excessive aliasing",
    ),
    "no number": (HEAD + b',"status":{"code":NaN}}}', 500, "invalid character 'N'"),
    "a very large number": (HEAD + b',"status":{"code":1e999}}}', 500, "number is infinity"),
    "keys that are repeated": (HEAD + b',"a":1' * 90_000 + b"}}", 201, ""),
    "many values": (HEAD + b',"warnings":[' + b"{}," * 110_000 + b"1]}}", 500, "cannot unmarshal object"),
    "half a character": (HEAD + b',"warnings":["\\ud800"]}}', 201, ""),
    "more than is read": (b" " * (33 << 20), 500, "response body too large"),
    "a redirect": ((302, b""), 500, "status code 302"),
    "no status": ((999, b"\x1b[2J" * 1000), 500, "an error on the server"),
    "warnings with line ends": (lambda review: allow(review, warnings=["a\r\nX-Evil: 1", "\0"]), 201, ""),
    "a code that is a half": (
        lambda review: answer(review, allowed=False, status={"code": 400.5}), 500, "cannot unmarshal number 400.5"),
    "a code that HTTP has not": (lambda review: answer(review, allowed=False, status={"code": 10**8}), 500, "denied"),
    "a code of success": (lambda review: answer(review, allowed=False, status={"code": 204}), 400, "denied"),
    "a time with a header": (
        lambda review: answer(review, allowed=False, status={"code": 429, "details": {"retryAfterSeconds": "1\r\nX-Evil: 1"}}),
        500, "cannot unmarshal string into Go struct field StatusDetails.response.status.details.retryAfterSeconds of type int32",
    ),
    "causes that are none": (
        lambda review: answer(review, allowed=False, status={"details": {"causes": [5]}}), 500, "cannot unmarshal number"),
    "a patch of lists in lists": (
        lambda review: patched(review, b'[{"op":"add","path":"/data/a","value":' + b"[" * 5000 + b"]" * 5000 + b"}]"),
        500, "exceeded max depth"),
    "a patch that copies itself": (
        lambda review: patch(review, {"op": "add", "path": "/x", "value": ["a"] * 1000},
                             *[{"op": "copy", "from": "/x", "path": "/x/0"}] * 40),
        500, "exceeding the limit"),
    "a patch that is none": (lambda review: patch(review, {}, {"op": 5}), 500, "Unexpected kind"),
    "another namespace": (
        lambda review: patch(review, {"op": "replace", "path": "/metadata/namespace", "value": "kube-system"}),
        400, "the namespace of the provided object does not match the namespace sent on the request"),
    "no identity": (
        lambda review: patch(review, {"op": "remove", "path": "/metadata/uid"}), 500, "system metadata was not initialized"),
    "nothing at all": (
        lambda review: patch(review, {"op": "replace", "path": "", "value": {}}), 500, "system metadata was not initialized"),
    "another kind": (
        lambda review: patch(review, {"op": "replace", "path": "/kind", "value": "Secret"}), 500, "unknown conversion"),
    "metadata that is none": (
        lambda review: patch(review, {"op": "replace", "path": "/metadata", "value": []}), 500, "cannot unmarshal array"),
    "labels that are none": (
        lambda review: patch(review, {"op": "add", "path": "/metadata/labels", "value": {"a": 5}}), 500, "cannot unmarshal number"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name: str, server: Server, hooks: HookServer, namespace: str) -> None:
    """Bodies of answers are shown to nobody and redirects followed nowhere (CVE-2020-8561)."""
    said, status, text = ANSWERS[name]

    def respond(_: str, review: Object) -> Any:
        uid = review["request"]["uid"].encode()
        if isinstance(said, bytes):
            return said.replace(b"UID", uid, 1)
        return said(review) if callable(said) else said

    hooks.respond = respond
    with registered(server, namespace, hook(hooks), sort="mutating"):
        given, made = create(server, namespace, data={"k": "v"})
    assert (given, text in json.dumps(made)) == (status, True), made
    assert "X-Evil" not in json.dumps(made.get("metadata", {}))
    assert server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0] == (
        200 if status == 201 else 404
    )
    assert server.call("GET", "/api/v1/namespaces/kube-system/configmaps/m")[0] == 404
