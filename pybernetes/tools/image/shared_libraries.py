"""Programs of this machine together with the shared libraries that they load."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from pybernetes.lib.oci import File
from pybernetes.tools.image.errors import ImageError

_LINE = re.compile(r"^\s+(?:(?P<name>\S+) => )?(?P<path>/\S+) \(0x[0-9a-f]+\)$")
_MISSING = re.compile(r"^\s+(\S+) => not found$", re.MULTILINE)
# The layout of Debian and its kin: one place for all programs and libraries, and links to it.
MERGED = {name: File(link=f"usr/{name}", mode=0o777) for name in ("bin", "sbin", "lib", "lib64")}
# Where the loader looks without being told.
_FALLBACK = "usr/lib"


def libraries(listing: str) -> dict[str, Path]:
    """Return the libraries that ldd lists, by their names; the loader itself by its whole path."""
    missing = _MISSING.search(listing)
    if missing:
        raise ImageError(f"the shared library {missing.group(1)} is not installed")
    result = {}
    for line in listing.splitlines():
        match = _LINE.match(line)
        if match:
            path = Path(match["path"])
            result[match["name"] or match["path"]] = path
    return result


def needed(programs: Iterable[Path], own: Path | None = None) -> dict[str, Path]:
    """Return what these programs and libraries load, by paths in an image, but for what lies below ``own``."""
    paths = [str(path) for path in programs]
    if not paths:
        return {}
    done = subprocess.run(["ldd", *paths], capture_output=True, text=True, check=False)
    result = {}
    for name, path in libraries(done.stdout).items():
        if own is None or not path.resolve().is_relative_to(own):
            result[in_image(name, path)] = path
    return result


def in_image(name: str, path: Path) -> str:
    """Return where a library goes: its own place if the loader looks there, else one where it does."""
    if name.startswith("/"):
        return merged(name)
    place = merged(str(path.parent))
    if place.startswith(("usr/lib/", "usr/lib64")) and place.count("/") <= 2:
        return f"{place}/{name}"
    return f"{_FALLBACK}/{name}"


def merged(path: str) -> str:
    """Return a path of this machine as it is in an image."""
    text = path.lstrip("/")
    return f"usr/{text}" if text.split("/", 1)[0] in MERGED else text


def is_binary(path: Path) -> bool:
    """Return whether a file is a program or a shared library of the machine."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def program(name: str, package: str) -> Path:
    """Return the file of a program; ImageError names the Debian package that has it."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if path is None:
        raise ImageError(f"{name} is not installed: apt-get install {package}")
    return Path(path)
