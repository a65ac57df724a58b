"""How events name a container of a pod."""

from __future__ import annotations

from pybernetes.api.resource import Object


def container_path(pod: Object, name: str) -> str:
    """Return the path by which events name a container of a pod; empty if it has none of that name."""
    for group in ("containers", "initContainers", "ephemeralContainers"):
        if any(container["name"] == name for container in pod["spec"].get(group) or ()):
            return f"spec.{group}{{{name}}}"
    return ""
