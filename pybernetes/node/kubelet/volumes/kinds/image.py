"""image: the files of an image. They are pulled and mounted when a container starts that wants them."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.base import Mounted, Place, Request


async def _mount(request: Request) -> Mounted:
    return Mounted("", True)


VOLUME = Place("image", _mount)
