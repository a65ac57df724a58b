"""A pod template with one container, for job and cronjob."""

from __future__ import annotations

from typing import Any


def template(name: str, image: str, command: list[str], restart: str) -> dict[str, Any]:
    """Return a pod template."""
    container: dict[str, Any] = {"name": name, "image": image}
    if command:
        container["command"] = command
    spec: dict[str, Any] = {"containers": [{**container, "resources": {}}]}
    if restart:
        spec["restartPolicy"] = restart
    return {"metadata": {}, "spec": spec}
