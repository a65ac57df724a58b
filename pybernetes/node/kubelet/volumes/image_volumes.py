"""Images as volumes: pulled like those of containers, and mounted read-only as long as the pod lives.

How an image gets into a container depends on the runtime: most are told to mount it; for a containerd that cannot,
the kubelet mounts a snapshot (``snapshots``).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from cri_api.v1 import api_pb2 as messages

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.containerd import Containerd
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.images.image_puller import ImagePuller, Report
from pybernetes.node.kubelet.volumes.errors import ImageVolumeError
from pybernetes.node.kubelet.volumes.snapshots import Snapshots
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume

_CONTAINERD = (2, 2)  # the first version that mounts images, and folders of images


def can_mount_images(name: str, version: str) -> bool:
    """Return whether a runtime can be told to mount an image."""
    if name != "containerd":
        return True
    number = re.match(r"v?(\d+)\.(\d+)", version)
    return number is not None and (int(number[1]), int(number[2])) >= _CONTAINERD


def mounted_images(pod: Object, container: Object) -> list[Object]:
    """Return the image volumes that a container mounts, each once."""
    names = {mount["name"] for mount in container.get("volumeMounts", ())}
    return [
        volume for volume in pod["spec"].get("volumes", ()) if "image" in volume and volume["name"] in names
    ]


class ImageVolumes:
    """The images that pods of a node have as volumes; ``directory`` is that of all pods."""

    def __init__(self, cri: CriClient, images: ImagePuller, directory: Path) -> None:
        self._cri, self._images, self._directory = cri, images, directory
        self._snapshots = Snapshots(Containerd(cri.channel))
        self._known: dict[tuple[str, str], str] = {}  # the images that the runtime mounts, by pod and name

    async def provide(
        self, pod: Object, container: Object, secrets: list[Object], sandbox_config: Message, report: Report
    ) -> dict[str, MountedVolume]:
        """Return the image volumes of a container.

        Raise ImageError if an image cannot be pulled, ImageVolumeError if it cannot be mounted.

        An image is looked up when the first container of its pod starts; those that follow get the same.
        """
        volumes = mounted_images(pod, container)
        if not volumes:
            return {}
        runtime = await self._cri.version()
        native = can_mount_images(runtime.runtime_name, runtime.runtime_version)
        uid, provided = pod["metadata"]["uid"], {}
        for volume in volumes:
            name, source = volume["name"], volume["image"]
            reference, policy = source.get("reference", ""), source.get("pullPolicy", "IfNotPresent")
            path = self._folder(uid) / name
            image = self._known.get((uid, name)) if native else await self._snapshots.find(uid, name, path)
            if image is None:
                image = (
                    await self._images.ensure(uid, reference, policy, secrets, sandbox_config, report)
                ).id
                if native:
                    self._known[uid, name] = image
                else:
                    try:
                        await self._snapshots.mount(uid, name, path, image)
                    except (CriError, OSError) as error:
                        raise ImageVolumeError(str(error)) from None
            spec = messages.ImageSpec(
                image=image, user_specified_image=reference, annotations=pod["metadata"].get("annotations")
            )
            provided[name] = MountedVolume("" if native else str(path), True, spec)
        return provided

    def _folder(self, uid: str) -> Path:
        return self._directory / uid / "volumes" / "kubernetes.io~image"

    async def release(self, uid: str) -> None:
        """Release the images of a pod that is gone and has nothing mounted any more."""
        self._known = {key: image for key, image in self._known.items() if key[0] != uid}
        folder = self._folder(uid)
        for name in os.listdir(folder) if folder.is_dir() else ():
            await self._snapshots.release(uid, name, folder / name)
