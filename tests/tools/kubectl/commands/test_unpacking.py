"""Archives from containers: unpacked as they come, and nowhere else than where they were wanted."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.kubectl.commands._unpacking import target_of, unpack
from pybernetes.tools.kubectl.errors import CommandError


def entry(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[Any, bytes]:
    made = tarfile.TarInfo(name)
    made.size, made.type, made.linkname, made.mode = len(content), kind, link, 0o4755
    return made, content


def packed(*entries: tuple[Any, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for made, content in entries:
            tar.addfile(made, io.BytesIO(content))
    return buffer.getvalue()


def unpacked(root: Path, data: bytes, prefix: str = "src") -> tuple[dict[str, bytes], list[str]]:
    """Return the files below a folder after an archive was unpacked to ``to`` in it, and the warnings."""
    warnings: list[str] = []
    unpack(io.BytesIO(data), prefix, str(root / "to"), warnings.append)
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return files, warnings


def test_files_and_folders(tmp_path: Path) -> None:
    data = packed(entry("src", kind=tarfile.DIRTYPE), entry("src/a", b"1"), entry("src/b/c", b"2"))
    assert unpacked(tmp_path, data) == ({"to/a": b"1", "to/b/c": b"2"}, [])
    assert (tmp_path / "to/a").stat().st_mode & 0o7111 == 0  # modes are not kept, as by the original


def test_sparse_files_are_left_out_with_a_word(tmp_path: Path) -> None:
    """They could be of any size here, and are of none there."""
    sparse, content = entry("src/x", b"hello")
    sparse.pax_headers = {
        "GNU.sparse.map": "0,5",
        "GNU.sparse.size": str(1 << 40),
        "GNU.sparse.name": "src/x",
    }
    files, warnings = unpacked(tmp_path, packed((sparse, content), entry("src/a", b"1")))
    assert files == {"to/a": b"1"}
    assert warnings == [f'warning: skipping sparse file: "{tmp_path}/to/x"']


ATTACKS = {
    "up": [entry("src/../../evil", b"x")],
    "up in the middle": [entry("src/a/../../../evil", b"x")],
    "up and down": [entry("src/../to-evil", b"x")],
    "a link, then through it": [
        entry("src/out", kind=tarfile.SYMTYPE, link=".."),
        entry("src/out/evil", b"x"),
    ],
    "a link to an absolute path, twice": [
        entry("src/one", kind=tarfile.SYMTYPE, link="/"),
        entry("src/two", kind=tarfile.SYMTYPE, link="one/tmp"),
        entry("src/two/../evil", b"x"),
    ],
    "the folder itself is a link": [
        entry("src", kind=tarfile.SYMTYPE, link=".."),
        entry("src/evil", b"x"),
    ],
    "a hard link": [entry("src/hard", kind=tarfile.LNKTYPE, link="/etc/passwd"), entry("src/hard", b"x")],
    "a device": [entry("src/device", kind=tarfile.CHRTYPE)],
    "a pipe": [entry("src/pipe", kind=tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_leaves_the_target(name: str, tmp_path: Path) -> None:
    """CVE-2018-1002100, CVE-2019-1002101, CVE-2019-11246, CVE-2019-11249, CVE-2019-11251."""
    root = tmp_path / "root"
    root.mkdir()
    files, _ = unpacked(root, packed(*ATTACKS[name]))
    assert all(path.startswith("to/") for path in files)
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
    assert not any(path.is_symlink() or path.is_fifo() or path.is_char_device() for path in root.rglob("*"))


@pytest.mark.parametrize("name", ["other", "srcs/a", "/etc/passwd", "../src/a", "./src", "src" + "/a" * 1500])
def test_what_was_not_asked_for_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="tar contents corrupted"):
        unpacked(tmp_path, packed(entry(name, b"x")))
    assert not list(tmp_path.iterdir())


def header(kind: bytes, size: int) -> bytes:
    """Return the header of an entry that says it is so large, in base 256."""
    made = tarfile.TarInfo("src/x")
    made.type = kind
    block = bytearray(made.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = (b"\xff" if size < 0 else b"\x80") + struct.pack(">3xq", size).rjust(11, b"\0")[-11:]
    if size < 0:
        block[125:128] = b"\xff" * 3
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


@pytest.mark.parametrize(
    ("kind", "size"),
    [(tarfile.REGTYPE, -1), (tarfile.XHDTYPE, -512), (tarfile.XHDTYPE, 1 << 40), (tarfile.GNUTYPE_LONGNAME, 1 << 40),
     (tarfile.XGLTYPE, 2 << 20), (tarfile.GNUTYPE_SPARSE, 1 << 40), (tarfile.REGTYPE, 1 << 40)],
)  # fmt: skip
def test_sizes_that_cannot_be(kind: bytes, size: int, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="tar contents corrupted"):
        unpacked(tmp_path, header(kind, size) + b"x" * 4096)


def test_what_is_cut_off_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="tar contents corrupted"):
        unpacked(tmp_path, packed(entry("src/a", b"x" * 5000))[:3000])


def test_a_file_where_a_folder_is(tmp_path: Path) -> None:
    (tmp_path / "to" / "a").mkdir(parents=True)
    with pytest.raises(CommandError, match="is a directory"):
        unpacked(tmp_path, packed(entry("src/a", b"x")))


def test_large_files_are_not_held_in_memory(tmp_path: Path) -> None:
    size = 48 << 20

    class Endless(io.RawIOBase):
        """An archive with one large file, made while it is read."""

        def __init__(self) -> None:
            made = tarfile.TarInfo("src")
            made.size = size
            self._head, self._left = made.tobuf(), size + 1024

        def read(self, count: int = -1) -> bytes:
            if self._head:
                head, self._head = self._head[:count], self._head[count:]
                return head
            count = min(count, self._left)
            self._left -= count
            return bytes(count)

    tracemalloc.start()
    try:
        unpack(Endless(), "src", str(tmp_path / "to"), lambda text: None, False)  # type: ignore[arg-type]
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert (tmp_path / "to").stat().st_size == size


@given(st.text("ab./", max_size=20), st.sampled_from(["", ".", "a", "a/b"]))
def test_every_target_is_inside(name: str, prefix: str) -> None:
    try:
        target = target_of(name, prefix, "/x/to")
    except CommandError:
        return
    assert target is None or f"{target}/".startswith("/x/to/")


@given(st.binary(max_size=2000), st.integers(0, 1500), st.binary(max_size=30))
def test_whatever_comes_is_unpacked_or_refused(junk: bytes, place: int, change: bytes) -> None:
    """An archive with changed bytes, and what is none at all."""
    good = bytearray(packed(entry("src/a", b"1" * 600), entry("src/" + "n" * 120, b"2")))
    good[place : place + len(change)] = change
    for data in (bytes(good), junk):
        with tempfile.TemporaryDirectory() as folder:
            try:
                unpack(io.BytesIO(data), "src", f"{folder}/to", lambda text: None)
            except CommandError:
                pass
            assert os.listdir(folder) in ([], ["to"])


@pytest.mark.parametrize(
    ("there", "entries", "message"),
    [
        ("folder", [entry("src", b"x")], "open {to}: is a directory"),
        ("file", [entry("src", kind=tarfile.DIRTYPE)], "mkdir {to}: not a directory"),
        ("file", [entry("src/a", b"x")], "mkdir {to}: not a directory"),
        ("link", [entry("src/a", b"x")], "mkdir {to}: file exists"),
    ],
)
def test_what_is_there_already(tmp_path: Path, there: str, entries: list[Any], message: str) -> None:
    """A folder is no place to copy a file to, unlike with cp; a folder is copied over one that is there."""
    to = tmp_path / "to"
    if there == "folder":
        to.mkdir()
    elif there == "file":
        to.write_text("")
    else:
        to.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CommandError) as caught:
        unpacked(tmp_path, packed(*entries))
    assert caught.value.message == message.format(to=to)
