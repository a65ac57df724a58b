"""What is below a folder, with openat2 and without it: links, and those who exchange things meanwhile."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.lib.files import opening
from pybernetes.lib.files.opening import Links, folder, make_folders, open_below, open_by_steps
from tests.lib.files.swapping import content, swapping

Open = Callable[..., int]
WAYS = pytest.mark.parametrize("open_", [open_below, open_by_steps], ids=["kernel", "steps"])


def opened(open_: Open, root: Path, path: str, links: Links, flags: int = os.O_PATH) -> str | None:
    """Return what a path leads to, relative to its folder; None if it is refused."""
    with folder(root) as top:
        try:
            descriptor = open_(top, path, flags, links)
        except OSError:
            return None
    try:
        return os.path.relpath(os.readlink(f"/proc/self/fd/{descriptor}"), os.path.realpath(root))
    finally:
        os.close(descriptor)


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """A volume with links of all kinds, next to what nobody may reach."""
    root = tmp_path / "volume"
    (root / "a/b").mkdir(parents=True)
    (root / "a/file").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("outside")
    for name, target in {
        "here": "a/b",
        "a/up": "../a",
        "out": "../outside",
        "absolute": str(tmp_path / "outside"),
        "rooted": "/a",
        "loop": "loop",
        "dangling": "missing",
        "again": "here/../file",
    }.items():
        (root / name).symlink_to(target)
    return root


@WAYS
@pytest.mark.parametrize(
    ("path", "refused", "inside", "rooted"),
    [
        ("", ".", ".", "."),
        (".", ".", ".", "."),
        ("a//b/", "a/b", "a/b", "a/b"),
        ("a/./file", "a/file", "a/file", "a/file"),
        ("a/../a/b", "a/b", "a/b", "a/b"),
        ("a/file/", None, None, None),
        ("a/file/..", None, None, None),
        ("missing", None, None, None),
        ("..", None, None, "."),
        ("a/../..", None, None, "."),
        ("../outside/file", None, None, None),
        ("/a", None, None, "a"),
        ("here", None, "a/b", "a/b"),
        ("here/..", None, "a", "a"),
        ("a/up/up/b", None, "a/b", "a/b"),
        ("again", None, "a/file", "a/file"),
        ("out/file", None, None, None),
        ("absolute/file", None, None, None),
        ("rooted/b", None, None, "a/b"),
        ("loop", None, None, None),
        ("dangling", None, None, None),
    ],
)
def test_where_a_path_leads(
    volume: Path, open_: Open, path: str, refused: str | None, inside: str | None, rooted: str | None
) -> None:
    """CVE-2017-1002101: a link in a volume does not lead out of it."""
    for links, expected in ((Links.REFUSED, refused), (Links.INSIDE, inside), (Links.ROOTED, rooted)):
        assert opened(open_, volume, path, links) == expected, links


@WAYS
def test_files_are_opened_and_created(volume: Path, open_: Open) -> None:
    with folder(volume) as top:
        with open(open_(top, "a/file", os.O_RDONLY)) as file:
            assert file.read() == "inside"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(open_(top, "a/new", flags, mode=0o600), "w") as file:
            file.write("text")
        for name in ("a/new", "dangling", "out/new"):
            with pytest.raises(OSError):
                open_(top, name, flags, mode=0o600)
        with pytest.raises(ValueError, match="null"):
            open_(top, "a\0b", os.O_PATH)
    assert (volume / "a/new").read_text() == "text"
    assert sorted(path.name for path in (volume.parent / "outside").iterdir()) == ["file"]


NAMES = st.sampled_from(["a", "b", "c", "..", ".", ""])
PATHS = st.lists(NAMES, min_size=1, max_size=6).map("/".join)


@settings(max_examples=150, deadline=None)
@given(
    made=st.lists(st.tuples(PATHS, st.none() | PATHS), max_size=8),
    path=PATHS,
    links=st.sampled_from(list(Links)),
)
def test_the_steps_do_what_the_kernel_does(
    made: list[tuple[str, str | None]], path: str, links: Links
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "outer/root")
        root.mkdir(parents=True)
        for place, target in made:
            where = root / place.replace("..", "b").strip("/")
            try:
                if target:
                    where.symlink_to(target)
                elif target is None:
                    where.mkdir(parents=True)
                else:
                    where.touch()
            except OSError:
                continue  # something is there
        assert opened(open_below, root, path, links) == opened(open_by_steps, root, path, links)


@WAYS
@pytest.mark.parametrize("links", [Links.REFUSED, Links.INSIDE, Links.ROOTED])
def test_no_race_leads_out(tmp_path: Path, open_: Open, links: Links) -> None:
    """CVE-2021-25741: a folder that is exchanged for a link while a path is resolved."""
    root = tmp_path / "volume"
    (root / "folder/deep").mkdir(parents=True)
    (root / "folder/deep/file").write_text("inside")
    (tmp_path / "outside/deep").mkdir(parents=True)
    (tmp_path / "outside/deep/file").write_text("outside")
    (root / "link").symlink_to("../outside")
    texts: list[str] = []
    with folder(root) as top, swapping(root, "folder", "link") as swapper:
        while len(texts) < 1000 or swapper.count < 1000:
            try:
                with open(open_(top, "folder/deep/file", os.O_RDONLY, links)) as file:
                    texts.append(file.read())
            except OSError:
                texts.append("")
    assert set(texts) <= {"inside", ""}


def test_folders_are_made_with_their_mode(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(0o700)
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "file").touch()
    mask = os.umask(0o077)
    try:
        with folder(tmp_path) as top:
            os.close(make_folders(top, "there/new//deep", 0o2775))
            for path in ("link/new", "file/new", "../new", "there/../../new", "a/" * 2048):
                with pytest.raises(OSError):
                    make_folders(top, path, 0o755)
    finally:
        os.umask(mask)
    modes = [(tmp_path / path).stat().st_mode & 0o7777 for path in ("there", "there/new", "there/new/deep")]
    assert modes == [0o700, 0o2775, 0o2775] and not (tmp_path / "a").exists()


def test_no_race_makes_folders_elsewhere(tmp_path: Path) -> None:
    """CVE-2017-1002101: folders for a sub-path are made in its volume alone."""
    root = tmp_path / "volume"
    (root / "folder").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to("../outside")
    before = content(outside)
    with folder(root) as top, swapping(root, "folder", "link") as swapper:
        tries = 0
        while tries < 500 or swapper.count < 500:
            tries += 1
            try:
                os.close(make_folders(top, f"folder/new{tries}", 0o777))
            except OSError:
                pass
    assert content(outside) == before


def test_a_kernel_without_openat2_is_noticed(monkeypatch: pytest.MonkeyPatch, volume: Path) -> None:
    def refuse(*_: object) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(opening, "_open_by_kernel", refuse)
    opening._kernel_opens.cache_clear()
    try:
        assert opened(open_below, volume, "here", Links.INSIDE) == "a/b"
    finally:
        opening._kernel_opens.cache_clear()
