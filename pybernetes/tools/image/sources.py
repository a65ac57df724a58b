"""What goes into a layer: paths in the image, with the files of this machine or the texts that they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pybernetes.lib.oci import File
from pybernetes.tools.image import bytecode

Sources = Mapping[str, Path | File]


def fingerprint(sources: Sources) -> str:
    """Return a text that changes when a layer of these would: by size and time of files, and by the texts."""
    digest = hashlib.sha256(bytecode.MAGIC)
    for path in sorted(sources):
        source = sources[path]
        if isinstance(source, Path):
            about = source.stat()
            digest.update(
                f"{path}\0{source}\0{about.st_size}\0{about.st_mtime_ns}\0{about.st_mode}\n".encode()
            )
        else:
            digest.update(f"{path}\0{source.mode}\0{source.link}\0".encode() + source.content)
    return digest.hexdigest()


def files(sources: Sources) -> dict[str, File]:
    """Return the files of a layer, with the compiled form beside every Python module."""
    result: dict[str, File] = {}
    for path, source in sources.items():
        if isinstance(source, File):
            result[path] = source
            continue
        content = source.read_bytes()
        result[path] = File(content, 0o755 if source.stat().st_mode & 0o100 else 0o644)
        if path.endswith(".py"):
            compiled = bytecode.compiled(content, f"/{path}")
            if compiled is not None:
                result[bytecode.path(path)] = File(compiled)
    return result
