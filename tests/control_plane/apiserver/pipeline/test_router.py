"""Places that there are, and places that there are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers import Server

MERGE = {"Content-Type": "application/merge-patch+json"}


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_unknown_places(server: Server, namespace: str) -> None:
    status, answer = server.call("GET", f"/api/v1/namespaces/{namespace}/nothings")
    assert (status, answer["message"]) == (404, "the server could not find the requested resource")
    status, answer = server.call("GET", "/nowhere")
    assert (status, answer) == (404, "404 page not found\n")
    status, answer = server.call("POST", path("no-such-namespace"), config_map("a"))
    assert (status, answer["message"]) == (404, 'namespaces "no-such-namespace" not found')


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_is_written_across_namespaces(server: Server, namespace: str, method: str) -> None:
    assert server.call("POST", path(namespace), config_map("stays"))[0] == 201
    status, answer = server.call(
        method, "/api/v1/configmaps", {}, headers=MERGE if method == "PATCH" else None
    )
    assert (status, answer["reason"]) == (405, "MethodNotAllowed")
    assert server.call("GET", path(namespace, "stays"))[0] == 200
    assert server.call("GET", "/api/v1/bindings")[0] == 404


@pytest.mark.parametrize("review", ["authentication.k8s.io/v1/selfsubjectreviews",
                                    "authorization.k8s.io/v1/selfsubjectaccessreviews"])  # fmt: skip
def test_reviews_have_no_table(server: Server, review: str) -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    body = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}} if "access" in review else {}
    for accept, wanted in ((table, 406), (f"{table},application/json", 201)):
        status, answer = server.call("POST", f"/apis/{review}", body, headers={"Accept": accept})
        assert (status, answer["kind"] == "Status") == (wanted, wanted == 406), answer
