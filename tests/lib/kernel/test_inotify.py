"""Watching folders."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pybernetes.lib.kernel.inotify import FolderWatcher


async def test_files_that_come_change_and_go_are_noticed(tmp_path: Path) -> None:
    changed = asyncio.Event()
    watcher = FolderWatcher(tmp_path, changed.set)
    file = tmp_path / "a"
    for action in (file.touch, lambda: file.write_text("x"), file.unlink):
        changed.clear()
        action()
        async with asyncio.timeout(10):
            await changed.wait()
    watcher.close()


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"watching .*none"):
        FolderWatcher(tmp_path / "none", lambda: None)
