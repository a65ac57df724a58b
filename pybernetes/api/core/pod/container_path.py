"""How events name a container of a pod."""

from __future__ import annotations

from pybernetes.api.resource import Object


def container_path(pod: Object, name: str) -> str:
    """Return the path by which events name a container of a pod; empty if it has none of that name."""
    for group in ("containers", "initContainers", "ephemeralContainers"):
        if any(container["name"] == name for container in pod["spec"].get(group) or ()):
            return f"spec.{group}{{{name}}}"
    return ""


def container_in(path: object) -> str:
    """Return the container that a path of an event names, empty if it names none."""
    if not isinstance(path, str) or not path.endswith("}"):
        return ""
    return path.partition("{")[2][:-1]
