"""What the types of volumes have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.object_cache import ObjectCache

MOUNT_FAILED = "ImageVolumeMountFailed"  # how CRI has such errors begin


class VolumeError(Exception):
    """A volume cannot be had now; ``reason`` is that of the event about it."""

    def __init__(self, message: str, reason: str = "FailedMount") -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


class ImageVolumeError(Exception):
    """An image is there and cannot be mounted."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{MOUNT_FAILED}: {message}")


@dataclass(frozen=True, slots=True)
class MountedVolume:
    """Where a volume is on the host."""

    path: str
    read_only: bool = False
    # The image that it is (CRI's ImageSpec). Without a path the runtime mounts it; at its path nobody can write or
    # run anything.
    image: Any = None


@dataclass(frozen=True, slots=True)
class VolumeFile:
    """A file of a volume whose content comes from objects."""

    data: bytes
    mode: int
    uid: int | None = None


@dataclass(slots=True)
class VolumeInputs:
    """What volumes need from the kubelet."""

    directory: Path  # of all pods
    client: Client | None
    objects: ObjectCache | None
    clock: Clock
    node: Callable[[], Object]
    addresses: Callable[[str], tuple[str, ...]] = lambda uid: ()
    host: Callable[[], tuple[str, ...]] = lambda: ()
    # What pods were given and must be renewed, by the pod's uid and more: it, when to renew it, when it expires.
    tokens: dict[Any, Any] = field(default_factory=dict)
    asked: dict[Any, Any] = field(default_factory=dict)  # requests for such that are under way

    def api(self) -> ObjectCache:
        """Return the cache of API objects; raise VolumeError if this kubelet has no API server."""
        if self.objects is None:
            raise VolumeError("this kubelet has no API server to ask")
        return self.objects


@dataclass(frozen=True, slots=True)
class VolumeRequest:
    """One volume of one pod."""

    pod: Object
    name: str
    source: Object  # the part of the volume that belongs to its type
    path: Path  # the folder that is the volume's own
    inputs: VolumeInputs

    @property
    def namespace(self) -> str:
        return self.pod["metadata"]["namespace"]

    @property
    def fs_group(self) -> int | None:
        return (self.pod["spec"].get("securityContext") or {}).get("fsGroup")


@dataclass(frozen=True, slots=True)
class ContentVolume:
    """A type whose files come from objects: written at once, and again when they change."""

    source: str
    files: Callable[[VolumeRequest], Awaitable[Mapping[str, VolumeFile]]]
    in_memory: bool = False


@dataclass(frozen=True, slots=True)
class PathVolume:
    """A type that is a folder, a file or a filesystem."""

    source: str
    mount: Callable[[VolumeRequest], Awaitable[MountedVolume]]


Kind = ContentVolume | PathVolume


def default_mode(source: Object, default: int = 0o644) -> int:
    """Return the mode of a source's files."""
    mode = source.get("defaultMode")
    return default if mode is None else mode
