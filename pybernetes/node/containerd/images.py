"""Images of a containerd: imported from archives, and the ones that we make ourselves."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pybernetes.lib import oci
from pybernetes.lib.processes.commands import CommandError, run
from pybernetes.node.containerd.config import NAMESPACE, PAUSE_IMAGE


class ImageError(Exception):
    """An image could not be made or imported."""


def pause_archive() -> bytes:
    """Return the sandbox image: Debian's catatonit, a static program that waits and reaps."""
    program = shutil.which("catatonit")
    if program is None:
        raise ImageError("catatonit is not installed: apt-get install catatonit")
    files = {"pause": oci.File(Path(program).read_bytes(), 0o755)}
    return oci.archive(
        PAUSE_IMAGE, oci.layer(files), oci.Process(entrypoint=("/pause", "-P"), user="65535:65535")
    )


async def load(socket: Path, archive: bytes) -> list[str]:
    """Import an OCI or docker archive and return the names of its images."""
    with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        file.write(archive)
        file.flush()
        return await load_file(socket, Path(file.name))


async def load_file(socket: Path, path: Path) -> list[str]:
    """Import the archive of a file and return the names of its images."""
    output = await _ctr(socket, "images", "import", str(path))
    return [line.split()[1] for line in output.splitlines() if line.startswith("unpacking ")]


async def names(socket: Path) -> list[str]:
    """Return the names of all images."""
    return (await _ctr(socket, "images", "list", "--quiet")).split()


async def _ctr(socket: Path, *arguments: str) -> str:
    try:
        return await run("ctr", "--address", str(socket), "--namespace", NAMESPACE, *arguments)
    except CommandError as error:
        raise ImageError(str(error)) from None


async def remove(socket: Path, name: str) -> None:
    """Remove an image, and wait until its content is gone."""
    await _ctr(socket, "images", "remove", "--sync", name)


async def tag(socket: Path, name: str, further: str) -> None:
    """Give an image a further name."""
    await _ctr(socket, "images", "tag", "--force", name, further)
