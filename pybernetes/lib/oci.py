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
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
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


def archive(tag: str, content: bytes, process: Process, *more: bytes) -> bytes:
    """Return an OCI archive of an image with a layer (``content``, as ``layer`` gives it) and those above it."""
    layers = (content, *more)
    packed = [gzip.compress(blob, 6, mtime=0) for blob in layers]
    config = _json(
        {
            "architecture": architecture(),
            "os": "linux",
            "config": _process(process),
            "rootfs": {"type": "layers", "diff_ids": [_digest(blob) for blob in layers]},
            "history": [{"created_by": "pybernetes"} for _ in layers],
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor(_CONFIG, config),
            "layers": [_descriptor(_LAYER, blob) for blob in packed],
        }
    )
    names = {"io.containerd.image.name": tag, "org.opencontainers.image.ref.name": tag.rpartition(":")[2]}
    index = {"schemaVersion": 2, "mediaType": _INDEX,
             "manifests": [{**_descriptor(_MANIFEST, manifest), "annotations": names}]}  # fmt: skip
    blobs = {f"blobs/sha256/{_digest(data)[7:]}": File(data) for data in (*packed, config, manifest)}
    return layer(
        {"oci-layout": File(b'{"imageLayoutVersion":"1.0.0"}'), "index.json": File(_json(index)), **blobs}
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


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _descriptor(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": _digest(data), "size": len(data)}
