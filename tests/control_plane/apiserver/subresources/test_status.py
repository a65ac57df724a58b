"""The status is written apart from the rest."""

from __future__ import annotations

from tests.servers import Server

MERGE = {"Content-Type": "application/merge-patch+json"}


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_status_is_written_apart(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    body = {"metadata": {"name": "s"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    server.call("POST", pods, {**body, "status": {"phase": "Running"}})
    assert server.call("GET", f"{pods}/s")[1]["status"]["phase"] == "Pending"
    server.call("PATCH", f"{pods}/s/status", {"status": {"phase": "Running"}}, headers=MERGE)
    server.call("PATCH", f"{pods}/s", {"status": {"phase": "Failed"}}, headers=MERGE)
    assert server.call("GET", f"{pods}/s")[1]["status"]["phase"] == "Running"
