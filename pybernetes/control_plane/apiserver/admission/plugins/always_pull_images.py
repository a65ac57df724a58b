"""AlwaysPullImages: every image is pulled anew, so that nobody runs a private image just because it is on the node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope, failure

_LISTS = ("initContainers", "containers", "ephemeralContainers")


class AlwaysPullImages(Plugin):
    """The plugin."""

    name = "AlwaysPullImages"
    order = 100
    scope = Scope(resources=("pods",))

    def mutate(self, attributes: Attributes) -> None:
        """Set the policy of every container and image volume."""
        if not _names_new_images(attributes):
            return
        assert attributes.obj is not None
        for _, container in _containers(attributes.obj):
            container["imagePullPolicy"] = "Always"
        for _, volume in _image_volumes(attributes.obj):
            volume["image"]["pullPolicy"] = "Always"

    def validate(self, attributes: Attributes) -> None:
        """Refuse any other policy, which a plugin in between may have set."""
        if not _names_new_images(attributes):
            return
        assert attributes.obj is not None
        problems = Errors()
        for path, container in _containers(attributes.obj):
            if container.get("imagePullPolicy") != "Always":
                problems.unsupported(
                    path / "imagePullPolicy", container.get("imagePullPolicy", ""), ["Always"]
                )
        for path, volume in _image_volumes(attributes.obj):
            if volume["image"].get("pullPolicy") != "Always":
                problems.unsupported(
                    path / "image" / "pullPolicy", volume["image"].get("pullPolicy", ""), ["Always"]
                )
        if problems:
            refusals = [str(attributes.forbidden(str(problem))) for problem in problems]
            raise failure(refusals[0] if len(refusals) == 1 else f"[{', '.join(refusals)}]")


def _containers(pod: Object) -> Iterator[tuple[Path, dict[str, Any]]]:
    for key in _LISTS:
        for index, container in enumerate(pod["spec"].get(key) or ()):
            yield (Path("spec") / key)[index], container


def _image_volumes(pod: Object) -> Iterator[tuple[Path, dict[str, Any]]]:
    for index, volume in enumerate(pod["spec"].get("volumes") or ()):
        if volume.get("image") is not None:
            yield (Path("spec") / "volumes")[index], volume


def _names_new_images(attributes: Attributes) -> bool:
    if attributes.operation != UPDATE:
        return True
    assert attributes.obj is not None and attributes.old is not None
    before = {container.get("image") for _, container in _containers(attributes.old)}
    return any(container.get("image") not in before for _, container in _containers(attributes.obj))


PLUGIN = AlwaysPullImages
