"""A pod template with one container, for job and cronjob."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def template(name: str, image: str, command: list[str], restart: str) -> Object:
    """Return a pod template."""
    container: Object = {"name": name, "image": image}
    if command:
        container["command"] = command
    spec: Object = {"containers": [{**container, "resources": {}}]}
    if restart:
        spec["restartPolicy"] = restart
    return {"metadata": {}, "spec": spec}
