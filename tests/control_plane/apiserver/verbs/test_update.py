"""Objects that are replaced."""

from __future__ import annotations

from typing import Any

from tests.servers import Server


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_a_write_that_changes_nothing_keeps_the_version(server: Server, namespace: str) -> None:
    _, made = server.call("POST", path(namespace), config_map("same", key="1"))
    _, again = server.call("PUT", path(namespace, "same"), made)
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
