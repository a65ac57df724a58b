"""create deployment."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, command_of, generator, metadata
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a deployment with the specified name"
USAGE = "create deployment NAME --image=image -- [COMMAND] [args...]"
ALIASES = ("deploy",)
FLAGS = (*COMMON, """
- image list | images; a container for each
- port int -1 | port that the container listens on
r replicas int 1 | number of replicas
""")  # fmt: skip
REQUIRED = ("image",)


def container_name(image: str) -> str:
    """Return the name of a container, from its image."""
    return image.rpartition("/")[2].partition(":")[0].partition("@")[0].replace("_", "-")


def make(context: Context, name: str) -> Object:
    """Return a Deployment."""
    flags = context.flags
    command = command_of(context)
    if len(flags.image) > 1 and command:
        raise CommandError("cannot specify multiple --image options and command")
    labels = {"app": name}
    containers: list[Object] = []
    for place, image in enumerate(flags.image):
        container: Object = {"name": container_name(image), "image": image}
        if command:
            container["command"] = command
        if flags.port >= 0 and place == 0:
            container["ports"] = [{"containerPort": flags.port}]
        containers.append({**container, "resources": {}})
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    return {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": metadata(context, name, labels=labels),
        "spec": {
            "replicas": flags.replicas,
            "selector": {"matchLabels": labels},
            "template": template,
            "strategy": {},
        },
        "status": {},
    }


run = generator(make, "failed to create deployment: ")
