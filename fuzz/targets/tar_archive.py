"""Archives that a container sends to ``kubectl cp``: nothing is written outside of the target, whatever they hold."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from fuzz.engine.target import Target
from pybernetes.tools.kubectl.commands._unpacking import unpack
from pybernetes.tools.kubectl.errors import CommandError

_FOLDER = tempfile.TemporaryDirectory(prefix="pyb-fuzz-")
_ROOT = Path(_FOLDER.name)


def run(data: bytes) -> None:
    """Unpack the bytes below a folder, and look what is beside it afterwards."""
    target = _ROOT / "target"
    shutil.rmtree(_ROOT, ignore_errors=True)
    _ROOT.mkdir()
    try:
        unpack(io.BytesIO(data), "data", str(target), lambda text: None)
    finally:
        assert set(os.listdir(_ROOT)) <= {"target"}, os.listdir(_ROOT)
        assert not any(path.is_symlink() for path in _ROOT.rglob("*"))


def _archive(*members: tuple[str, bytes, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, kind, content in members:
            entry = tarfile.TarInfo(name)
            entry.type = kind
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                entry.linkname = content.decode()
            entry.size = len(content) if kind == tarfile.REGTYPE else 0
            tar.addfile(entry, io.BytesIO(content) if kind == tarfile.REGTYPE else None)
    return buffer.getvalue()[: 512 * (4 * len(members) + 2)]


TARGET = Target(
    run,
    (CommandError, OSError),
    seeds=(
        _archive(("data", tarfile.DIRTYPE, b""), ("data/a", tarfile.REGTYPE, b"hello"), ("data/b/c", tarfile.REGTYPE, b"x" * 600)),
        _archive(("data/link", tarfile.SYMTYPE, b"../../outside"), ("data/link/x", tarfile.REGTYPE, b"y")),
        _archive(("data/../../x", tarfile.REGTYPE, b"y"), ("data/hard", tarfile.LNKTYPE, b"/etc/passwd")),
    ),
    words=(b"data/", b"../", b"/", b"\0", b"ustar", b"0", b"5", b"2", b"1", b"L", b"x", b"././@LongLink", b"path=data/../../y\n"),
    seconds=0.2,
    per_byte=40e-6,
    largest=8 << 10,
)  # fmt: skip
