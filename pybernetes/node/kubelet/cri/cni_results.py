"""When a sandbox got its network: CRI does not tell, but CNI leaves its result in a file, and that has a time."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

FOLDER = Path("/var/lib/cni/results")
_MOST_FILES = 4096


class CniResults:
    """The results of a node's networks. Where one was found the next is looked for, by name."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._around: tuple[str, str] | None = (
            None  # the name of a result: what is before the sandbox, and after it
        )

    def made(self, sandbox: str) -> float | None:
        """Return when the network of a sandbox was ready, in seconds since the epoch; None if that cannot be told."""
        try:
            if self._around is not None:
                return os.stat(self._folder / sandbox.join(self._around)).st_mtime
        except OSError:
            self._around = None
        try:
            with os.scandir(self._folder) as entries:
                for entry in islice(entries, _MOST_FILES):
                    before, same, after = entry.name.partition(sandbox)
                    if same:
                        self._around = before, after
                        return entry.stat(follow_symlinks=False).st_mtime
        except OSError:
            pass
        return None
