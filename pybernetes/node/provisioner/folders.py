"""Makes and removes the folders of volumes, in this process or by somebody who may."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Protocol

from pybernetes.lib.files import opening, trees


class Folders(Protocol):
    """Who makes and removes folders."""

    async def make_volume(self, path: Path) -> None:
        """Make the folder of a volume; it may be there already."""

    async def remove_volume(self, path: Path) -> None:
        """Remove the folder of a volume with everything in it; it may be gone already."""


class OwnFolders:
    """Folders that this process makes and removes itself."""

    async def make_volume(self, path: Path) -> None:
        """Make the folder of a volume."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with opening.folder(path.parent) as directory:
            # Whoever runs in the container is to write there.
            os.close(opening.make_folders(directory, path.name, 0o777))

    async def remove_volume(self, path: Path) -> None:
        """Remove the folder of a volume."""
        await asyncio.to_thread(trees.remove_path, path)
