"""Trees of folders: gone through and removed, whatever is in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.lib.files import opening, trees
from pybernetes.lib.files.opening import folder
from pybernetes.lib.files.trees import remove_path, walk
from tests.lib.files.deep_folders import deep_folders
from tests.lib.files.swapping import content, swapping
from tests.support import require_root


def names_below(root: Path) -> list[str]:
    with folder(root) as top:
        return sorted(entry.name for entry in walk(top))


@contextmanager
def bound(source: Path, target: Path) -> Iterator[None]:
    require_root()
    subprocess.run(["mount", "--bind", source, target], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", target], check=True)


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/file").touch()
    (root / "a/link").symlink_to(outside)
    (root / "file").symlink_to(outside / "kept")
    os.mkfifo(root / "a/pipe")
    before = content(outside)
    assert names_below(root) == ["a", "b", "file", "file", "link", "pipe"]
    remove_path(root)
    remove_path(root)  # twice does no harm
    assert not root.exists() and content(outside) == before


def test_a_link_itself_is_removed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to("outside")
    remove_path(tmp_path / "link")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]


def test_folders_deeper_than_any_path(tmp_path: Path) -> None:
    with deep_folders(tmp_path / "root", 1000):
        assert len(names_below(tmp_path / "root")) == 1001
        remove_path(tmp_path / "root")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "steps"])
def test_mounts_are_not_crossed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    monkeypatch.setattr(opening, "_kernel_opens", lambda: kernel)
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (root / "mounted").mkdir(parents=True)
    (root / "a").mkdir()
    (root / "a/file").touch()
    with bound(outside, root / "mounted"):
        assert names_below(root) == ["a", "file", "mounted"]
        with pytest.raises(OSError):
            remove_path(root)
        with pytest.raises(OSError):
            remove_path(root / "mounted")
        assert (outside / "kept").read_text() == "kept"
        assert not (root / "a").exists(), "what can be removed is"
    remove_path(root)
    assert not root.exists()


TREE = st.recursive(
    st.none(), lambda below: st.dictionaries(st.text("abc", min_size=1, max_size=2), below, max_size=5)
)


@settings(max_examples=40, deadline=None)
@given(tree=st.dictionaries(st.text("abc", min_size=1, max_size=2), TREE, max_size=5))
def test_everything_is_visited_and_removed(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, object]
) -> None:
    root = tmp_path_factory.mktemp("trees") / "root"

    def make(path: Path, below: object) -> int:
        if not isinstance(below, dict):
            path.touch()
            return 1
        path.mkdir()
        return 1 + sum(make(path / name, more) for name, more in below.items())

    count = make(root, tree)
    assert len(names_below(root)) == count - 1
    remove_path(root)
    assert not root.exists()


def test_no_race_removes_anything_outside(tmp_path: Path) -> None:
    """CVE-2017-1002102: a folder that is exchanged for a link while its volume is removed."""
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep/kept").write_text("kept")
    before = content(outside)
    for _ in range(60):
        root = tmp_path / "root"
        for number in range(4):
            (root / f"top/{number}/deep").mkdir(parents=True)
            (root / f"top/{number}/deep/file").touch()
        (root / "link").symlink_to(outside)
        with swapping(root, "top", "link"):
            for _ in range(3):
                try:
                    remove_path(root)
                except OSError:
                    pass
        assert content(outside) == before
        remove_path(root)


def test_a_walk_does_not_leave_with_a_folder_that_is_moved(tmp_path: Path) -> None:
    """What is above a folder that was moved is not gone through."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (outside / "secret").touch()
    (root / "a/b").mkdir(parents=True)
    (root / "z").touch()
    with folder(root) as top:
        walked = walk(top)
        seen = []
        with pytest.raises(OSError, match="moved"):
            for entry in walked:
                seen.append(entry.name)
                if entry.name == "b":
                    os.rename(root / "a", outside / "a")
    assert "secret" not in seen
    shutil.rmtree(outside)


def test_a_walk_while_files_come_and_go(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    ended = threading.Event()

    def churn() -> None:
        while not ended.is_set():
            os.makedirs(root / "a/b/c", exist_ok=True)
            shutil.rmtree(root / "a", ignore_errors=True)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(200):
            try:
                assert set(names_below(root)) <= {"a", "b", "c"}
            except OSError:
                pass  # the way back was lost
    finally:
        ended.set()
        thread.join()


def test_folders_beyond_what_can_be_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names take memory, as many as somebody makes."""
    for name in ("a/aa", "a/ab", "b/ba/baa", "c"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(trees, "_MOST_NAMES", 6)  # at most three folders at the top, or two and those in one
    assert len(names_below(tmp_path)) == 7
    monkeypatch.setattr(trees, "_MOST_NAMES", 5)
    with pytest.raises(OSError, match="too many folders"):
        names_below(tmp_path)
