"""ConfigMaps to list and to watch."""

from __future__ import annotations

from typing import Any

from tests.servers import Server


def path(namespace: str) -> str:
    """Return the path of a namespace's ConfigMaps."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


def make(server: Server, namespace: str, name: str, **labels: str) -> dict[str, Any]:
    """Create a ConfigMap with labels."""
    status, made = server.call("POST", path(namespace), {"metadata": {"name": name, "labels": labels}})
    assert status == 201, made
    return made
