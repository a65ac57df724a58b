"""kubectl as one file that runs anywhere: a shell script with Python and all that kubectl needs behind it.

The file unpacks itself at its first run into a folder of the user, and needs ``sh``, ``tar`` and ``gzip`` for that, which
busybox has. The machine must have the processor of the one that made it, and nothing else: libraries come along.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

# What kubectl never imports, and what is large.
_LEFT_OUT = {"test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "pydoc_data", "site-packages", "__pycache__", "config-3.11-x86_64-linux-gnu"}  # fmt: skip
# Of the environment. "proxy" has httptools and re2 for requests, and "create secret tls" looks into certificates.
_PACKAGES = ("yaml", "_yaml", "orjson", "httptools", "cryptography", "_cffi_backend.*", "re2", "_re2.*")
_PARTS = ("api", "client", "lib", "tools/kubectl")  # of this project
_HEAD = """#!/bin/sh
# kubectl of Pybernetes: unpacks itself at its first run.
set -eu
base=${{TMPDIR:-/tmp}}/kubectl-{name}-$(id -u)
if [ ! -f "$base/ready" ]; then
    umask 077
    mkdir "$base.$$"
    tail -n +{lines} "$0" | gzip -dc | tar -xf - -C "$base.$$"
    : >"$base.$$/ready"
    mv "$base.$$" "$base" 2>/dev/null || rm -rf "$base.$$"
fi
[ -O "$base" ] || {{ echo "$base belongs to somebody else" >&2; exit 1; }}
PYTHONHOME=$base KUBECTL_BUNDLE=$0 exec "$base/loader" --library-path "$base/libraries" "$base/python" -P -S \
    "$base/app/pybernetes/tools/kubectl/__main__.py" "$@"
"""


def build(target: Path) -> int:
    """Write the file, and return how large it is."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as archive:
        for name, path in sorted(_contents()):
            info = archive.gettarinfo(os.path.realpath(path), name)
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = ""
            with open(path, "rb") as file:
                archive.addfile(info, file)
    payload = buffer.getvalue()
    name = hashlib.sha256(payload).hexdigest()[:16]
    head = _HEAD.format(name=name, lines=_HEAD.count("\n") + 1)
    target.write_bytes(head.encode() + payload)
    target.chmod(0o755)
    return target.stat().st_size


def _contents() -> Iterator[tuple[str, str]]:
    """Yield what is in the archive: names and files."""
    python = os.path.realpath(sys.executable)
    library = Path(sysconfig.get_path("stdlib"))
    modules = [python, *map(str, (library / "lib-dynload").glob("*.so"))]
    yield "python", python
    for path in _files(library):
        yield f"lib/{library.name}/{path.relative_to(library)}", str(path)
    site = Path(sysconfig.get_path("platlib"))
    for package in (folder for pattern in _PACKAGES for folder in sorted(site.glob(pattern))):
        for path in _files(package):
            yield f"app/{path.relative_to(site)}", str(path)
            modules += [str(path)] if path.suffix == ".so" else []
    root = Path(__file__).resolve().parents[2]
    for part in _PARTS:
        for path in _files(root / part):
            yield f"app/pybernetes/{path.relative_to(root)}", str(path)
    yield "app/pybernetes/__init__.py", str(root / "__init__.py")
    yield "app/pybernetes/tools/__init__.py", str(root / "tools" / "__init__.py")
    loader, libraries = _libraries(modules)
    yield "loader", loader
    for linked in libraries:
        yield f"libraries/{os.path.basename(linked)}", linked


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a package, which may be one file itself."""
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*")):
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(folder).parts) and path.suffix != ".pyc":
            yield path


def _libraries(programs: list[str]) -> tuple[str, set[str]]:
    """Return the loader, and the libraries that programs and modules are linked with."""
    loader, libraries = "", set()
    for program in programs:
        done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            if match := re.search(r"=> (/\S+)", line):
                libraries.add(match[1])
            elif match := re.match(r"\s*(/\S*ld-\S+)", line):
                loader = match[1]
    for name in (
        "libnss_dns.so.2",
        "libnss_files.so.2",
        "libresolv.so.2",
    ):  # found by name when they are needed
        for path in {os.path.dirname(library) for library in libraries}:
            if os.path.exists(os.path.join(path, name)):
                libraries.add(os.path.join(path, name))
    if not loader:
        raise RuntimeError("the loader of shared libraries was not found: ldd says nothing of it")
    return loader, libraries
