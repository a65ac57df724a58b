"""What folders use and filesystems have."""

from __future__ import annotations

import os
from pathlib import Path

from pybernetes.node.stats import filesystem
from tests.lib.files.deep_folders import deep_folders


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"x" * 100_000)
    os.link(tmp_path / "deep" / "file", tmp_path / "again")
    os.symlink("/usr", tmp_path / "link")
    size, count = filesystem.used(tmp_path)
    assert 100_000 <= size < 200_000 and count == 4
    assert filesystem.used(tmp_path / "gone") == (0, 0)
    disk = filesystem.filesystem(tmp_path)
    assert disk is not None and disk.capacity >= disk.available > 0 and filesystem.filesystem("/gone") is None


def test_what_others_put_into_a_folder(tmp_path: Path) -> None:
    """Pipes are not waited for, links not followed, and folders too deep for a path are counted."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/usr")
    with deep_folders(tmp_path / "deep", 1000):
        _, count = filesystem.used(tmp_path)
    assert count == 1 + 2 + 1001 + 1
    assert filesystem.used(tmp_path / "link") == (0, 1)
