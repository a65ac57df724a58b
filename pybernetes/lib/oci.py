"""Container images made from files, written as an OCI archive that every runtime imports."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import platform
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "riscv64": "riscv64", "ppc64le": "ppc64le",
                  "s390x": "s390x"}  # fmt: skip
_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
_CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"


@dataclass(frozen=True, slots=True)
class File:
    """A file or link in a layer: ``link`` is what a symbolic link points to."""

    content: bytes = b""
    mode: int = 0o644
    link: str = ""
    uid: int = 0
    gid: int = 0


@dataclass(frozen=True, slots=True)
class Process:
    """What a container of the image runs unless it is told otherwise."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",)
    working_directory: str = "/"
    user: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


def architecture() -> str:
    """Return this machine's architecture in the words of images."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def layer(files: Mapping[str, File]) -> bytes:
    """Return a layer with these files, the folders above them included; the same files give the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        made: set[str] = set()
        for path in sorted(files):
            name = path.strip("/")
            for parent in reversed(Path(name).parents[:-1]):
                if str(parent) not in made and str(parent) not in files:
                    made.add(str(parent))
                    archive.addfile(_entry(str(parent), tarfile.DIRTYPE, 0o755))
            file = files[path]
            entry = _entry(name, tarfile.SYMTYPE if file.link else tarfile.REGTYPE, file.mode)
            entry.linkname, entry.size, entry.uid, entry.gid = (
                file.link,
                len(file.content),
                file.uid,
                file.gid,
            )
            archive.addfile(entry, io.BytesIO(file.content))
    return buffer.getvalue()


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, 0
    return entry


def directory_layer(root: Path) -> bytes:
    """Return a layer with everything below a folder of this machine, owned by root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(_below(root)):
            entry = archive.gettarinfo(path, str(path.relative_to(root)))
            if entry is None:
                continue  # a socket, for one
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            if entry.isreg():
                with path.open("rb") as content:
                    archive.addfile(entry, content)
            else:
                archive.addfile(entry)
    return buffer.getvalue()


def _below(root: Path) -> Iterable[Path]:
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            yield Path(folder) / name


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer as images hold it: compressed, and known by the digest of what it was before."""

    packed: bytes
    diff_id: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image under one or more names."""

    names: tuple[str, ...]
    layers: tuple[Layer, ...]
    process: Process

    def config(self) -> bytes:
        """Return its configuration."""
        return _json(
            {
                "architecture": architecture(),
                "os": "linux",
                "config": _process(self.process),
                "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in self.layers]},
                "history": [{"created_by": "pybernetes"} for _ in self.layers],
            }
        )

    def manifest(self) -> bytes:
        """Return its manifest, whose digest is that of the image."""
        return _json(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": _descriptor(_CONFIG, self.config()),
                "layers": [_descriptor(_LAYER, layer.packed) for layer in self.layers],
            }
        )

    def blobs(self) -> dict[str, bytes]:
        """Return all that the manifest names, by digest."""
        return {digest(data): data for data in (*(layer.packed for layer in self.layers), self.config())}


def pack(content: bytes, level: int = 6) -> Layer:
    """Return a layer of the bytes that ``layer`` gives."""
    return Layer(gzip.compress(content, level, mtime=0), digest(content))


def archive(tag: str, content: bytes, process: Process, *more: bytes) -> bytes:
    """Return an OCI archive of an image with a layer (``content``, as ``layer`` gives it) and those above it."""
    return archive_of([Image((tag,), tuple(pack(blob) for blob in (content, *more)), process)])


def archive_of(images: Iterable[Image]) -> bytes:
    """Return an OCI archive of several images; what they share is in it once."""
    manifests: list[Any] = []
    blobs: dict[str, bytes] = {}
    for image in images:
        manifest = image.manifest()
        blobs |= {**image.blobs(), digest(manifest): manifest}
        for name in image.names:
            names = {
                "io.containerd.image.name": name,
                "org.opencontainers.image.ref.name": name.rpartition(":")[2],
            }
            manifests.append({**_descriptor(MANIFEST, manifest), "annotations": names})
    index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests}
    files = {f"blobs/sha256/{name[7:]}": File(data) for name, data in blobs.items()}
    return layer(
        {"oci-layout": File(b'{"imageLayoutVersion":"1.0.0"}'), "index.json": File(_json(index)), **files}
    )


def _process(process: Process) -> dict[str, Any]:
    values = {
        "Entrypoint": list(process.entrypoint),
        "Cmd": list(process.command),
        "Env": list(process.environment),
        "WorkingDir": process.working_directory,
        "User": process.user,
        "Labels": dict(process.labels),
    }
    return {name: value for name, value in values.items() if value}


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _descriptor(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest(data), "size": len(data)}
