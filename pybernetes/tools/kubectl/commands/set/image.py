"""set image."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._metadata_changes import split
from pybernetes.tools.kubectl.commands.set._change import (
    COMMON,
    Incomplete,
    change,
    need_resources,
    no_template,
    pod_spec,
)
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Update the image of a pod template"
USAGE = "set image (-f FILENAME | TYPE NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N"
COMPLETION = "types daemonsets deployments pods cronjobs replicasets replicationcontrollers statefulsets"
FLAGS = (*COMMON, shared_flags.RECORD, shared_flags.field_manager("kubectl-set"))


def run(context: Context) -> None:
    """Set the images of containers."""
    resources, pairs = split(context.args, "image")
    images = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    need_resources(context, resources)

    def validate() -> None:
        if not images:
            raise CommandError("at least one image update is required")
        if len(images) > 1 and "*" in images:
            raise CommandError(
                "all containers are already specified by *, but saw more than one container_name=container_image pairs"
            )

    def edit(info: Info, value: Object) -> None:
        spec = pod_spec(value)
        if spec is None:
            raise no_template(context, info)
        missing = []
        for name, image in images.items():
            matched = False
            for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
                if name in ("*", container["name"]):
                    container["image"] = image
                    if not image:
                        del container["image"]
                    matched = True
            if not matched:
                missing.append(f'error: unable to find container named "{name}"')
        if missing:
            raise Incomplete("\n".join(missing))

    change(
        context, resources, "image updated", edit, "failed to patch image update to pod template: ", validate
    )
