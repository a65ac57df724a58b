"""fsGroup: which files get the group, and that nothing outside of the volume does."""

from __future__ import annotations

import os
from pathlib import Path

from pybernetes.node.kubelet.volumes.fs_group import give_to_group
from tests.lib.files.swapping import content, swapping
from tests.support import require_root


def owned(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_gid, status.st_mode & 0o7777


def volume(tmp_path: Path) -> Path:
    root = tmp_path / "volume"
    (root / "d/e").mkdir(parents=True, mode=0o700)
    (root / "d/file").touch(0o600)
    for path in (root, root / "d", root / "d/e"):
        path.chmod(0o700)
    return root


def test_everything_in_a_volume_gets_the_group(tmp_path: Path) -> None:
    require_root()
    root = volume(tmp_path)
    (tmp_path / "outside").touch(0o600)
    (root / "link").symlink_to("../outside")
    os.mkfifo(root / "pipe", 0o600)
    give_to_group(root, 3000, "Always")
    assert [owned(root / path) for path in ("", "d", "d/e")] == [(3000, 0o2770)] * 3
    assert [owned(root / path) for path in ("d/file", "pipe")] == [(3000, 0o660)] * 2
    assert owned(tmp_path / "outside") == (0, 0o600)


def test_a_root_that_matches_is_enough_for_one_policy(tmp_path: Path) -> None:
    require_root()
    root = volume(tmp_path)
    os.chown(root, -1, 3000)
    root.chmod(0o2770)
    give_to_group(root, 3000, "OnRootMismatch")
    assert owned(root / "d/file") == (0, 0o600)
    give_to_group(root, 3000, "Always")
    assert owned(root / "d/file") == (3000, 0o660)
    give_to_group(root / "d/file", 4000, "Always")  # a volume that is a file
    assert owned(root / "d/file") == (4000, 0o660)


def test_no_race_gives_away_what_is_outside(tmp_path: Path) -> None:
    """A volume that two pods share: one of them exchanges folders and files for links while the other starts."""
    require_root()
    root, outside = volume(tmp_path), tmp_path / "outside"
    (outside / "e").mkdir(parents=True)
    (outside / "file").touch(0o600)
    (root / "link").symlink_to("../outside")
    (root / "d/link").symlink_to("../../outside/file")
    before = content(outside)
    with swapping(root, "d", "link") as folders, swapping(root / "d", "file", "link") as files:
        tries = 0
        while tries < 200 or folders.count < 300 or files.count < 300:
            try:
                give_to_group(root, 3000 + tries % 2, "Always")
            except OSError:
                pass  # the next try is the kubelet's
            tries += 1
    assert content(outside) == before
