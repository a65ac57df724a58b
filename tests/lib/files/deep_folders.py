"""Folders inside of folders, as a container may leave them in a volume."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def deep_folders(root: Path, depth: int) -> Iterator[None]:
    """Make folders inside of folders, deeper than any path can say."""
    root.mkdir()
    here = os.open(root, os.O_PATH)
    for _ in range(depth):
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_PATH, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT, 0o644, dir_fd=here))
    os.close(here)
    try:
        yield
    finally:
        subprocess.run(["rm", "-rf", root], check=True)  # pytest could not
