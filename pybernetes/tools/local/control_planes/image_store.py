"""Images of ourselves in the form in which a container runtime keeps them, made once and shared by machines.

Importing the images into each machine would unpack a whole Python as many times. Layers and their contents are never changed once
they are there, so machines have links to the same files; the runtime's small databases are copied.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from pybernetes.lib import oci
from pybernetes.lib.files import trees
from pybernetes.node.containerd import images
from pybernetes.node.containerd.config import ContainerdPaths
from pybernetes.node.containerd.containerd import Containerd
from pybernetes.tools.image import catalog
from pybernetes.tools.local import paths

_KEPT = 2  # stores, the one in use among them


def folder() -> Path:
    """Return where stores are kept: beside the clusters, so that links are possible."""
    return paths.home() / "image-stores"


def ensure(kept: Path | None = None) -> Path:
    """Return the folder of a container runtime that has all images of this installation; make it if there is none."""
    made = catalog.images(parts=tuple(catalog.PARTS))
    digests = "\n".join(f"{oci.digest(image.manifest())} {' '.join(image.names)}" for image in made)
    kept = kept or folder()
    kept.mkdir(parents=True, exist_ok=True, mode=0o700)
    store = kept / hashlib.sha256(digests.encode()).hexdigest()[:16]
    with (kept / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not store.exists():
            _make(store, oci.archive_of(made))
            _forget_old(kept)
        os.utime(store)
    return store


def _make(store: Path, archive: bytes) -> None:
    unfinished = store.with_suffix(".new")
    run = Path("/run/pybernetes") / f"images-{store.name}"
    trees.remove_path(unfinished)

    async def fill() -> None:
        runtime = Containerd(ContainerdPaths(unfinished, run, unfinished / "config.toml"))
        await runtime.start()
        try:
            await images.load(runtime.paths.socket, archive)
        finally:
            await runtime.stop()

    try:
        asyncio.run(fill())
        unfinished.rename(store)
    finally:
        trees.remove_path(run)
        trees.remove_path(unfinished)


def _forget_old(kept: Path) -> None:
    stores = sorted((path for path in kept.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    for store in stores[:-_KEPT]:
        trees.remove_path(store)


def share(store: Path, target: Path) -> None:
    """Give a container runtime that has not run yet what is in a store."""
    source, own = store / "root", target / "root"
    if own.exists():
        return
    target.mkdir(parents=True, exist_ok=True, mode=0o711)
    unfinished = target / "root.new"
    trees.remove_path(unfinished)
    done = subprocess.run(
        ["cp", "-a", "--link", str(source), str(unfinished)], capture_output=True, text=True
    )
    if done.returncode:  # another file system
        trees.remove_path(unfinished)
        subprocess.run(
            ["cp", "-a", "--reflink=auto", str(source), str(unfinished)], check=True, capture_output=True
        )
    for database in unfinished.rglob("*.db"):
        copied = database.with_suffix(".copy")
        shutil.copy2(database, copied)
        os.replace(copied, database)
    unfinished.rename(own)
