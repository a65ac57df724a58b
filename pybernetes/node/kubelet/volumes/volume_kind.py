"""What a kind of volume is: a ``VOLUME`` of each file in ``kinds``, and what it is asked for and gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.volume_inputs import VolumeInputs


@dataclass(frozen=True, slots=True)
class MountedVolume:
    """Where a volume is on the host."""

    path: str
    read_only: bool = False
    # The image that it is (CRI's ImageSpec). Without a path the runtime mounts it; at its path nobody can write or
    # execute anything.
    image: Message | None = None
    # For a volume behind a claim: the field that says what it is.
    source: str = ""
    # Whether its files are the pods' own, and are given to the pod's fsGroup.
    managed: bool = False


@dataclass(frozen=True, slots=True)
class VolumeFile:
    """A file of a volume whose content comes from objects."""

    data: bytes
    mode: int
    uid: int | None = None


@dataclass(frozen=True, slots=True)
class VolumeRequest:
    """One volume of one pod."""

    pod: Object
    name: str
    source: Object  # the field of the volume that belongs to its kind
    path: Path  # the volume's own folder
    inputs: VolumeInputs
    nested: Sequence[str] = ()  # the folders in it on which containers mount others

    @property
    def namespace(self) -> str:
        return self.pod["metadata"]["namespace"]

    @property
    def fs_group(self) -> int | None:
        return (self.pod["spec"].get("securityContext") or {}).get("fsGroup")


@dataclass(frozen=True, slots=True)
class ContentVolume:
    """A kind whose files come from objects: written at once, and again when they change."""

    source: str  # its field in a pod's volume
    files: Callable[[VolumeRequest], Awaitable[Mapping[str, VolumeFile]]]
    in_memory: bool = False
    # After how many seconds the files are to be written again although nothing announces a change; None for never.
    refresh_after: Callable[[Object], float | None] = lambda source: None


@dataclass(frozen=True, slots=True)
class PathVolume:
    """A kind that is a folder, a file or a filesystem."""

    source: str  # its field in a pod's volume
    mount: Callable[[VolumeRequest], Awaitable[MountedVolume]]
    measured: bool = True  # whether the stats of a pod tell what it uses


VolumeKind = ContentVolume | PathVolume
# Bytes of all such files of a pod. They are in the node's memory, not the pod's, and a pod can name one key any number of
# times; an object has at most 1 MiB.
_MOST_CONTENT = 128 << 20


def add_content(size: int, files: Mapping[str, VolumeFile]) -> int:
    """Return how many bytes a pod's files have with these; raise VolumeError if they are too many."""
    size += sum(len(file.data) for file in files.values())
    if size > _MOST_CONTENT:
        raise VolumeError(
            f"the files of the pod's configMap, secret, projected and downwardAPI volumes have more than {_MOST_CONTENT} bytes"
        )
    return size


def default_mode(source: Object, default: int = 0o644) -> int:
    """Return the mode of a source's files."""
    mode = source.get("defaultMode")
    return default if mode is None else mode
