"""What is mounted into a container: its volumes, its /etc/hosts, and the file for its termination message."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from cri_api.v1 import api_pb2 as messages

from pybernetes.api.resource import Object
from pybernetes.lib.files.opening import Links
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.containers.expansion import expand, missing
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.volumes import sub_paths
from pybernetes.node.kubelet.volumes.errors import ImageVolumeError
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume

_PROPAGATION = {
    "": messages.PROPAGATION_PRIVATE,
    "None": messages.PROPAGATION_PRIVATE,
    "HostToContainer": messages.PROPAGATION_HOST_TO_CONTAINER,
    "Bidirectional": messages.PROPAGATION_BIDIRECTIONAL,
}


def container_mounts(
    pod: Object,
    container: Object,
    mounted: Mapping[str, MountedVolume],
    variables: Mapping[str, str],
    folder: Path,
    hosts: Path | None,
    recursive: bool = False,
) -> list[Message]:
    """Return the mounts of a container; ``folder`` is the pod's, ``hosts`` the file for its /etc/hosts.

    ``recursive`` is whether the runtime can make a mount read-only with all that is mounted below it.
    """
    container_mounts: list[Message] = []
    for index, mount in enumerate(container.get("volumeMounts", ())):
        volume = mounted.get(mount["name"])
        if volume is None:
            raise ConfigError(
                f'cannot find volume "{mount["name"]}" to mount into container "{container["name"]}"'
            )
        target = mount["mountPath"]
        made = messages.Mount(
            container_path=target if target.startswith("/") else f"/{target}",
            readonly=bool(mount.get("readOnly")) or volume.read_only,
            recursive_read_only=_recursive_read_only(mount, recursive),
            propagation=_PROPAGATION[mount.get("mountPropagation") or ""],
        )
        below = _below(mount, variables)
        place = sub_paths.place(folder, mount["name"], container["name"], index)
        if volume.image is None:
            made.host_path = _source(container, mount, volume, below, place)
        else:
            _mount_image(made, volume.image, volume, below, place)
        container_mounts.append(made)
    taken = {message.container_path for message in container_mounts}
    if hosts is not None and "/etc/hosts" not in taken:
        read_only = bool((container.get("securityContext") or {}).get("readOnlyRootFilesystem"))
        container_mounts.append(
            messages.Mount(container_path="/etc/hosts", host_path=str(hosts), readonly=read_only)
        )
    path = container.get("terminationMessagePath")
    if path and path not in taken:
        container_mounts.append(
            messages.Mount(container_path=path, host_path=str(_message_file(folder, container["name"])))
        )
    return container_mounts


def _recursive_read_only(mount: Object, supported: bool) -> bool:
    """Return whether a mount is read-only with all below it; raise ConfigError if that is asked for in vain."""
    mode = mount.get("recursiveReadOnly", "Disabled")
    if mode == "Disabled":
        return False
    start = f'failed to resolve recursive read-only mode: volume "{mount["name"]}" requested recursive read-only mode'
    if not mount.get("readOnly"):
        raise ConfigError(f"{start}, but it is not read-only")
    propagation = mount.get("mountPropagation") or "None"
    if propagation != "None":
        raise ConfigError(f'{start}, but it is not compatible with propagation "{propagation}"')
    if mode == "Enabled" and not supported:
        raise ConfigError(f"{start}, but it is not supported by the runtime")
    return supported


def _below(mount: Object, variables: Mapping[str, str]) -> str:
    """Return the path inside the volume that is mounted."""
    below = mount.get("subPath", "")
    if mount.get("subPathExpr"):
        absent = missing(mount["subPathExpr"], variables)
        if absent:
            raise ConfigError(f'missing value for "{absent[0]}"')
        below = expand(mount["subPathExpr"], variables)
    if os.path.isabs(below):
        raise ConfigError(f"error SubPath `{below}` must not be an absolute path")
    if ".." in below.split("/"):
        raise ConfigError(f"unable to provision SubPath `{below}`: must not contain '..'")
    return below


def _mount_image(made: Message, image: Message, volume: MountedVolume, below: str, place: Path) -> None:
    if not volume.path:
        made.image.CopyFrom(image)
        made.image_sub_path = below
        return
    # It is mounted read-only already; a runtime that remounts it would drop its noexec.
    made.readonly = made.recursive_read_only
    made.host_path = str(place) if below else volume.path
    try:
        if below:
            sub_paths.mount_sub_path(volume.path, below, place, links=Links.ROOTED)
    except OSError:
        reference = image.user_specified_image
        raise ImageVolumeError(f'the path "{below}" is not in the image "{reference}"') from None


def _source(container: Object, mount: Object, volume: MountedVolume, below: str, place: Path) -> str:
    if not below:
        return volume.path
    what = "create subPath directory"
    try:
        if not sub_paths.exists(volume.path, below):
            sub_paths.make_sub_path(volume.path, below)
        what = "prepare subPath"
        sub_paths.mount_sub_path(volume.path, below, place, mount.get("mountPropagation") or "")
    except (OSError, ValueError):
        # Details of the failure could reveal the node's files to a pod.
        raise ConfigError(
            f'failed to {what} for volumeMount "{mount["name"]}" of container "{container["name"]}"'
        ) from None
    return str(place)


def _message_file(folder: Path, container: str) -> Path:
    """Create a file that only this run of the container gets, writable whoever its user is."""
    path = folder / "containers" / container / uuid.uuid4().hex[:8]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(0o666)
    return path
