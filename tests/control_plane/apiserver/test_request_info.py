"""What a method and a path ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.request_info import parse


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
    found = (info.verb, info.group, info.version, info.resource, info.subresource, info.namespace, info.name)
    assert found == expected


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
