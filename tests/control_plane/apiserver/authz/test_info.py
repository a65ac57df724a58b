"""How a path is read: one reading for authorization and routing, whatever the spelling."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo, attributes, parse
from pybernetes.lib.http.messages import split_target

FIELDS = ("verb", "group", "version", "resource", "subresource", "namespace", "name")


@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        ("GET /api/v1/pods", ("list", "", "v1", "pods", "", "", "")),
        ("HEAD /api/v1/pods", ("list", "", "v1", "pods", "", "", "")),
        ("GET /api/v1/namespaces/one/pods/p", ("get", "", "v1", "pods", "", "one", "p")),
        ("GET /api/v1/namespaces/one/pods/p/log", ("get", "", "v1", "pods", "log", "one", "p")),
        ("POST /api/v1/namespaces/one/pods", ("create", "", "v1", "pods", "", "one", "")),
        ("PUT /apis/apps/v1/namespaces/one/deployments/d/status", ("update", "apps", "v1", "deployments", "status", "one", "d")),
        ("PATCH /api/v1/nodes/n", ("patch", "", "v1", "nodes", "", "", "n")),
        ("DELETE /api/v1/nodes/n", ("delete", "", "v1", "nodes", "", "", "n")),
        ("DELETE /api/v1/nodes", ("deletecollection", "", "v1", "nodes", "", "", "")),
        ("OPTIONS /api/v1/nodes", ("", "", "v1", "nodes", "", "", "")),
        ("GET /api/v1/namespaces/one", ("get", "", "v1", "namespaces", "", "one", "one")),
        ("PUT /api/v1/namespaces/one/finalize", ("update", "", "v1", "namespaces", "finalize", "one", "one")),
        ("GET /api/v1/nodes/n/proxy/a//b/", ("get", "", "v1", "nodes", "proxy", "", "n")),
        ("GET /api/v1/proxy/nodes/n/x/y", ("proxy", "", "v1", "nodes", "", "", "n")),
        ("GET /api/v1/watch/pods", ("watch", "", "v1", "pods", "", "", "")),
        ("DELETE /api/v1/watch/namespaces/one/pods/p", ("watch", "", "v1", "pods", "", "one", "p")),
        # Spellings: read like upstream; what can be no resource keeps no version.
        ("GET /api/v1/pods/", ("list", "", "v1", "pods", "", "", "")),
        ("GET /api/v1/namespaces/one/secrets/s//", ("get", "", "v1", "secrets", "", "one", "s")),
        ("GET /api/v1/namespaces//pods", ("list", "", "v1", "pods", "", "", "")),
        ("GET /api/v1//pods", ("get", "", "v1", "", "", "", "pods")),
        ("GET /api/v1/namespaces/one/secrets//s", ("list", "", "v1", "secrets", "s", "one", "")),
        ("GET //api/v1/pods", ("list", "", "", "pods", "", "", "")),
        ("GET /apis//v1/pods", ("list", "", "", "pods", "", "", "")),
        ("GET /api/v1/%70ods", ("list", "", "v1", "pods", "", "", "")),
        ("GET /api%2Fv1%2fpods", ("list", "", "v1", "pods", "", "", "")),
        ("GET /api/v1/namespaces/one%2Fsecrets/s", ("get", "", "v1", "secrets", "", "one", "s")),
        ("GET /api/v1/namespaces/one/%2e%2e/two/secrets", ("get", "", "v1", "..", "secrets", "one", "two")),
        ("GET /api/v1/../v1/pods", ("get", "", "v1", "..", "pods", "", "v1")),
        ("GET /api/v1/Pods", ("list", "", "v1", "Pods", "", "", "")),
        ("GET /api/v1/namespaces/one/pods;x", ("list", "", "v1", "pods;x", "", "one", "")),
    ],
)  # fmt: skip
def test_resources(request_line: str, expected: tuple[str, ...]) -> None:
    method, _, target = request_line.partition(" ")
    info = parse(method, split_target(target.encode())[0], False)
    assert info.is_resource
    assert tuple(getattr(info, field) for field in FIELDS) == expected


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/apis/apps/v1/",
        "/API/v1/pods",
        "/healthz",
        "//version",
        "/x/y/z/q",
        "",
    ],
)
def test_other_paths(path: str) -> None:
    assert parse("POST", path, False) == RequestInfo("post", path)


def request(target: str, watch: bool = False, method: str = "GET") -> Request:
    path, query = split_target(target.encode())
    connection: Any = None
    made = Request(connection, method, path, query, {}, b"")
    made.request_info = parse(method, path, watch)
    return made


@pytest.mark.parametrize(
    ("target", "method", "name", "fields"),
    [
        ("/api/v1/secrets?fieldSelector=metadata.name%3Ds", "GET", "s", (("metadata.name", "s", True),)),
        ("/api/v1/secrets?fieldSelector=metadata.name!%3Ds", "GET", "", (("metadata.name", "s", False),)),
        ("/api/v1/secrets?field%53elector=metadata.name%3Ds", "GET", "s", (("metadata.name", "s", True),)),
        ("/api/v1/secrets?fieldSelector=metadata.name%3D..", "GET", "", (("metadata.name", "..", True),)),
        ("/api/v1/secrets?fieldSelector=metadata.name%3Da/b", "GET", "", (("metadata.name", "a/b", True),)),
        ("/api/v1/secrets?fieldSelector=nonsense", "GET", "", ()),
        ("/api/v1/secrets/t?fieldSelector=metadata.name%3Ds", "GET", "t", ()),
        ("/api/v1/secrets?fieldSelector=metadata.name%3Ds", "DELETE", "", (("metadata.name", "s", True),)),
        ("/api/v1/watch/secrets?fieldSelector=metadata.name%3Ds", "GET", "", ()),
        ("/api/v1/secrets?fieldSelector=metadata.name%3Ds", "POST", "", ()),
    ],
)
def test_selectors_count_where_they_narrow(target: str, method: str, name: str, fields: Any) -> None:
    found = attributes(request(target, method=method))
    assert (found.name, found.fields) == (name, fields)


def test_labels() -> None:
    found = attributes(request("/api/v1/pods?labelSelector=a%3Db,c"))
    assert [str(requirement) for requirement in found.labels] == ["a=b", "c"]
    assert attributes(request("/api/v1/pods?labelSelector=%21%21%21")).labels == ()
