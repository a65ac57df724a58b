"""What a method and a path ask for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo, attributes, parse
from pybernetes.lib.http.messages import split_target


@pytest.mark.parametrize(
    ("method", "path", "watch", "expected"),
    [
        # verb, group, version, resource, subresource, namespace, name
        ("GET", "/api/v1/pods", False, ("list", "", "v1", "pods", "", "", "")),
        ("GET", "/api/v1/pods", True, ("watch", "", "v1", "pods", "", "", "")),
        ("POST", "/api/v1/namespaces/a/pods", False, ("create", "", "v1", "pods", "", "a", "")),
        ("GET", "/api/v1/namespaces/a/pods/b", False, ("get", "", "v1", "pods", "", "a", "b")),
        ("GET", "/api/v1/namespaces/a/pods/b", True, ("get", "", "v1", "pods", "", "a", "b")),
        ("HEAD", "/api/v1/namespaces/a/pods/b", False, ("get", "", "v1", "pods", "", "a", "b")),
        ("PUT", "/api/v1/namespaces/a/pods/b/status", False, ("update", "", "v1", "pods", "status", "a", "b")),
        ("DELETE", "/api/v1/namespaces/a/pods", False, ("deletecollection", "", "v1", "pods", "", "a", "")),
        ("DELETE", "/api/v1/namespaces/a/pods/b", False, ("delete", "", "v1", "pods", "", "a", "b")),
        ("GET", "/api/v1/namespaces", False, ("list", "", "v1", "namespaces", "", "", "")),
        ("GET", "/api/v1/namespaces/a", False, ("get", "", "v1", "namespaces", "", "a", "a")),
        ("PUT", "/api/v1/namespaces/a/finalize", False, ("update", "", "v1", "namespaces", "finalize", "a", "a")),
        ("PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale", False,
         ("patch", "apps", "v1", "deployments", "scale", "a", "b")),
        ("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/x", False,
         ("get", "rbac.authorization.k8s.io", "v1", "clusterroles", "", "", "x")),
        ("GET", "/api/v1/watch/namespaces/a/pods/b", False, ("watch", "", "v1", "pods", "", "a", "b")),
        ("OPTIONS", "/api/v1/pods", False, ("", "", "v1", "pods", "", "", "")),
        ("GET", "/api/v1/namespaces/a/pods/b/proxy/c/d", False, ("get", "", "v1", "pods", "proxy", "a", "b")),
    ],
)  # fmt: skip
def test_resources(method: str, path: str, watch: bool, expected: tuple[str, ...]) -> None:
    info = parse(method, path, watch)
    assert info.is_resource
    parts = (info.verb, info.group, info.version, info.resource, info.subresource, info.namespace, info.name)
    assert parts == expected


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/api",
        "/api/",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/healthz/ping",
        "/version",
        "/metrics",
    ],
)
def test_other_paths(path: str) -> None:
    info = parse("GET", path, False)
    assert not info.is_resource and (info.verb, info.path) == ("get", path)


def test_the_rest_of_a_proxied_path() -> None:
    assert parse("GET", "/api/v1/namespaces/a/services/b:c/proxy/d/e", False).rest == "d/e"


@given(st.sampled_from(("GET", "POST", "X")), st.text("/abpisv1namespaces.%", max_size=40), st.booleans())
def test_any_path_is_something(method: str, path: str, watch: bool) -> None:
    info = parse(method, path, watch)
    assert info.path == path and (info.resource == "" or info.is_resource)


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
def test_request_lines(request_line: str, expected: tuple[str, ...]) -> None:
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
def test_paths_that_are_no_resources(path: str) -> None:
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
    asked = attributes(request(target, method=method))
    assert (asked.name, asked.fields) == (name, fields)


def test_labels() -> None:
    asked = attributes(request("/api/v1/pods?labelSelector=a%3Db,c"))
    assert [str(requirement) for requirement in asked.labels] == ["a=b", "c"]
    assert attributes(request("/api/v1/pods?labelSelector=%21%21%21")).labels == ()


@pytest.mark.parametrize(
    ("request_line", "long_running"),
    [
        ("GET /api/v1/pods", False),
        ("GET /api/v1/pods?watch=1", True),
        ("GET /api/v1/watch/pods", True),
        ("GET /api/v1/namespaces/one/pods/p", False),
        ("GET /api/v1/namespaces/one/pods/p/status", False),
        ("GET /api/v1/namespaces/one/pods/p/log", True),
        ("POST /api/v1/namespaces/one/pods/p/exec", True),
        ("POST /api/v1/namespaces/one/pods/p/attach", True),
        ("POST /api/v1/namespaces/one/pods/p/portforward", True),
        ("PUT /api/v1/nodes/n/proxy/some/path", True),
        ("POST /api/v1/namespaces/one/pods/p/eviction", False),
        ("GET /healthz", False),
    ],
)
def test_what_goes_on_for_as_long_as_the_client_likes(request_line: str, long_running: bool) -> None:
    method, target = request_line.split()
    path, _, query = target.partition("?")
    assert parse(method, path, "watch" in query).long_running is long_running
