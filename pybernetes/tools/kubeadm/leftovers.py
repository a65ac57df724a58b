"""Takes back what a command wrote, if it fails before anything runs: the machine is left as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path


class Leftovers:
    """What is below some folders now; ``remove`` takes away what came since."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._before = set(self._present())

    def _present(self) -> list[Path]:
        return [
            path for folder in self._folders for path in (folder, *sorted(folder.rglob("*"))) if path.exists()
        ]

    def remove(self) -> None:
        """Remove new files, and folders that are empty then."""
        for path in sorted(self._present(), reverse=True):
            if path in self._before:
                continue
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
