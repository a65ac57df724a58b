"""Paths of the server itself."""

from __future__ import annotations

import pytest

from tests.servers import Server


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


@pytest.mark.parametrize(("path", "kind"), [("/statusz", "Statusz"), ("/flagz", "Flagz")])
def test_what_the_server_says_about_itself(server: Server, path: str, kind: str) -> None:
    status, text = server.call("GET", path)
    assert status == 200 and f"\napiserver {path[1:]}\n" in text
    accept = {"Accept": f"application/json;v=v1beta1;g=config.k8s.io;as={kind}"}
    status, value = server.call("GET", path, headers=accept)
    assert (status, value["kind"], value["metadata"]) == (200, kind, {"name": "apiserver"})
    assert server.call("GET", path, token="")[0] in (401, 403)
