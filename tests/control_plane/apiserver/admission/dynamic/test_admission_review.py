"""What webhooks answer: patches and reviews that are taken or refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import (
    MAPS,
    Object,
    create,
    hook,
    registered,
)
from tests.hook_server import HookServer, patch
from tests.servers import Server

REVIEW = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (b"garbage", "json parse error: json: cannot unmarshal string into Go value of type struct {"),
        (b'{"kind"', "json parse error: unexpected end of JSON input"),
        (b"[]", "json parse error: json: cannot unmarshal array into Go value of type struct {"),
        (b"", "0-length response with status code: 200 and content type: application/json"),
        ((500, b"broken"), 'an error on the server ("unknown") has prevented the request from succeeding'),
        ((404, b""), "the server could not find the requested resource"),
        ({"kind": "Pod", "apiVersion": "v1"}, 'no kind "Pod" is registered for version "v1" in scheme'),
        (
            {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1"},
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (REVIEW, "webhook response was absent"),
        (REVIEW | {"response": {"uid": "x"}}, "expected response.uid="),
        (
            REVIEW | {"response": {"allowed": "yes"}},
            "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
        ),
        (REVIEW | {"response": {"patch": "%"}}, "illegal base64 data at input byte 0"),
    ],
)
def test_answers_that_make_no_sense(
    server: Server, hooks: HookServer, namespace: str, given: Any, why: str
) -> None:
    hooks.respond = lambda path, review: given
    for sort in ("validating", "mutating"):
        with registered(server, namespace, hook(hooks), sort=sort):
            status, said = create(server, namespace)
            assert status == 500 and said["reason"] == "InternalError"
            assert said["message"].startswith(
                'Internal error occurred: failed calling webhook "hook.example.com": '
            )
            assert why in said["message"]
            assert server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0] == 404
        with registered(server, namespace, hook(hooks, failurePolicy="Ignore"), sort=sort):
            assert create(server, namespace, f"{sort}-ignored")[0] == 201


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        (
            [{"op": "remove", "path": "/data/missing"}],
            "error in remove for path: '/data/missing': Unable to remove nonexistent key: missing: missing value",
        ),
        (
            [{"op": "add", "path": "/data/c", "value": "d"}, {"op": "test", "path": "/data/a", "value": "x"}],
            "testing value /data/a failed: test failed",
        ),
        (
            [{"op": "replace", "path": "/data", "value": 7}],
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            [{"op": "add", "path": "/metadata/labels", "value": {"a": 1}}],
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            [{"op": "replace", "path": "/apiVersion", "value": "v9"}],
            'no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
        (
            [{"op": "replace", "path": "/kind", "value": "Namespace"}],
            "converting (v1.Namespace) to (core.ConfigMap): unknown conversion",
        ),
    ],
)
def test_patches_that_do_not_apply(
    server: Server, hooks: HookServer, namespace: str, operations: list[Object], why: str
) -> None:
    hooks.respond = lambda path, review: patch(review, *operations)
    with registered(server, namespace, hook(hooks, failurePolicy="Ignore"), sort="mutating"):
        status, said = create(server, namespace, data={"a": "b"})
        assert (status, said["message"]) == (500, f"Internal error occurred: {why}")
        assert server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0] == 404


@pytest.mark.parametrize("sort", ["mutating", "validating"])
def test_nothing_is_left_of_a_write_that_a_hook_spoils(
    server: Server, hooks: HookServer, namespace: str, sort: str
) -> None:
    hooks.respond = lambda path, review: b"garbage"
    path = f"/api/v1/namespaces/{namespace}/services"
    ports = [{"port": 80, "nodePort": 30777}]
    service = {
        "metadata": {"name": "s"},
        "spec": {"type": "NodePort", "clusterIP": "10.0.0.77", "ports": ports},
    }
    spoiling = hook(hooks, rules=[{**MAPS, "operations": ["*"], "resources": ["services"]}])
    with registered(server, namespace, spoiling, sort=sort):
        assert server.call("POST", path, service)[0] == 500
    assert server.call("GET", "/apis/networking.k8s.io/v1/ipaddresses/10.0.0.77")[0] == 404
    status, made = server.call("POST", path, service)
    assert status == 201, made  # the address and the port are free
    with registered(server, namespace, spoiling, sort=sort):
        moved = {**made, "spec": {**made["spec"], "ports": [{"port": 80, "nodePort": 30778}]}}
        assert server.call("PUT", f"{path}/s", moved)[0] == 500
        assert server.call("DELETE", f"{path}/s")[0] == 500
    stored = server.call("GET", f"{path}/s")[1]
    assert stored["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    other = {"metadata": {"name": "o"}, "spec": {"type": "NodePort", "ports": moved["spec"]["ports"]}}
    assert server.call("POST", path, other)[0] == 201
    for name in ("s", "o"):
        assert server.call("DELETE", f"{path}/{name}")[0] == 200
