"""Pods that may be evicted."""

from __future__ import annotations

from typing import Any


def make_pod(name: str, priority: int = 0, request: str = "", **spec: Any) -> dict[str, Any]:
    """Return a pod with one container that asks for so much memory and so much disk."""
    requests = {"memory": request, "ephemeral-storage": request} if request else {}
    container = {"name": "c", "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": "x", "uid": name},
        "spec": {"containers": [container], "priority": priority, **spec},
    }
