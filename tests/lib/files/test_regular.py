"""Regular files, and what is something else."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
from pathlib import Path

import pytest

from pybernetes.lib.files.opening import folder
from pybernetes.lib.files.regular import (
    create,
    open_regular,
    open_regular_path,
    read_below,
    read_whole,
    rewrite,
)
from tests.lib.files.swapping import swapping


def test_pipes_devices_and_sockets_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener, folder(tmp_path) as top:
        listener.bind(str(tmp_path / "socket"))
        for name in ("pipe", "socket", "device", "folder", "missing"):
            with pytest.raises(OSError):
                open_regular(top, name)
    with folder("/dev") as devices, pytest.raises(OSError, match="not a regular file"):
        open_regular(devices, "null")


def test_what_a_running_program_reads_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_whole(tmp_path / "link", limit=4) == b"text"
    with pytest.raises(OSError, match="longer than 3 bytes"):
        read_whole(tmp_path / "file", limit=3)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("pipe", "device", "."):  # none of which is waited for
        with pytest.raises(OSError, match="not a regular file"):
            read_whole(tmp_path / name)


def test_parts_of_a_path_that_others_can_change(tmp_path: Path) -> None:
    (tmp_path / "real/pod").mkdir(parents=True)
    (tmp_path / "real/pod/0.log").write_text("text")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "real/link").symlink_to("pod")
    with open_regular_path(tmp_path / "linked/pod/0.log", 2) as file:
        assert file.read() == b"text"
    for path, foreign in (("linked/pod/0.log", 3), ("real/link/0.log", 2)):
        with pytest.raises(OSError):
            open_regular_path(tmp_path / path, foreign)


def test_a_text_below_a_volume(tmp_path: Path) -> None:
    root = tmp_path / "volume"
    (root / "d").mkdir(parents=True)
    (root / "d/file").write_text("A=1\n" * 10)
    (tmp_path / "secret").write_text("secret")
    (root / "link").symlink_to("/d/file")
    (root / "out").symlink_to("../secret")
    os.mkfifo(root / "pipe")
    assert read_below(str(root), "link") == "A=1\n" * 10
    assert read_below(str(root), "d/file", limit=3) == "A=1"
    for path in ("out", "../secret", str(tmp_path / "secret"), "pipe", "d", "missing"):
        with pytest.raises(OSError):
            read_below(str(root), path)


def test_files_are_created_only_where_nothing_is(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (tmp_path / "dangling").symlink_to(outside)
    os.mkfifo(tmp_path / "pipe")
    with folder(tmp_path) as top:
        create(top, "file", b"text", 0o640, os.getuid(), os.getgid())
        for name in ("file", "dangling", "pipe"):
            with pytest.raises(FileExistsError):
                create(top, name, b"more", 0o640)
    assert (tmp_path / "file").read_text() == "text" and (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    assert not outside.exists()


def test_no_race_opens_something_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("inside")
    os.mkfifo(tmp_path / "pipe")
    opened = 0
    with folder(tmp_path) as top, swapping(tmp_path, "file", "pipe") as swapper:
        tries = 0
        while tries < 500 or not opened or swapper.count < 500:
            tries += 1
            try:
                with open_regular(top, "file") as file:
                    assert file.read() == b"inside"
                    opened += 1
            except OSError:
                pass


def test_files_whose_content_others_change_are_written_without_waiting(tmp_path: Path) -> None:
    """Who holds a lease on a file lets everybody wait who opens it, for 45 seconds."""
    path = tmp_path / "hosts"
    rewrite(path, b"a long text", 0o640)
    path.chmod(0o777)
    rewrite(path, b"text", 0o640)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"text", 0o640)
    with path.open("r+") as theirs:
        fcntl.fcntl(theirs, fcntl.F_SETSIG, signal.SIGURG)  # the usual signal would end us
        fcntl.fcntl(theirs, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        with pytest.raises(BlockingIOError):
            rewrite(path, b"other", 0o640)
        fcntl.fcntl(theirs, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    rewrite(path, b"other", 0o640)
    assert path.read_bytes() == b"other"
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        rewrite(path, b"text", 0o640)
