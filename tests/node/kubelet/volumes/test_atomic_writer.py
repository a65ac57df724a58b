"""Files that change all at once, also where somebody else could write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pybernetes.node.kubelet.volumes import atomic_writer
from pybernetes.node.kubelet.volumes.volume_kind import VolumeFile
from tests.lib.files.swapping import content, exchange, swapping


def test_files_change_all_at_once(tmp_path: Path) -> None:
    assert atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644), "d/b": VolumeFile(b"2", 0o600)})
    assert (tmp_path / "a").read_text() == "1" and (tmp_path / "d/b").stat().st_mode & 0o777 == 0o600
    before = (tmp_path / "..data").readlink()
    assert not atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644), "d/b": VolumeFile(b"2", 0o600)})
    assert atomic_writer.write(tmp_path, {"c": VolumeFile(b"3", 0o644)})
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("..")) == ["c"]
    assert not (tmp_path / before).exists()
    assert len(list(tmp_path.iterdir())) == 3, "a file, ..data and where it leads"


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        ({"a": VolumeFile(b"1", 0o644)}, False),
        ({"a": VolumeFile(b"2", 0o644)}, True),
        ({"a": VolumeFile(b"12", 0o644)}, True),
        ({"a": VolumeFile(b"1", 0o600)}, True),
        ({"b": VolumeFile(b"1", 0o644)}, True),
        ({"a": VolumeFile(b"1", 0o644), "b": VolumeFile(b"", 0o644)}, True),
        ({}, True),
    ],
)
def test_what_is_a_change(tmp_path: Path, files: dict[str, VolumeFile], changed: bool) -> None:
    atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644)})
    assert atomic_writer.write(tmp_path, files) is changed
    assert {name: (tmp_path / name).read_bytes() for name in files} == {
        name: file.data for name, file in files.items()
    }


def test_a_try_that_fails_leaves_nothing(tmp_path: Path) -> None:
    atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644)})
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(OSError):
        atomic_writer.write(tmp_path, {"b": VolumeFile(b"2", 0o644), "b/c": VolumeFile(b"3", 0o644)})
    assert sorted(path.name for path in tmp_path.iterdir()) == before and (tmp_path / "a").read_text() == "1"


def _relink(volume: Path, outside: Path) -> None:
    (volume / "..data").unlink()
    (volume / "..data").symlink_to(outside)


def _relink_upwards(volume: Path, outside: Path) -> None:
    (volume / "..data").unlink()
    (volume / "..data").symlink_to(f"../{outside.name}")


def _own_name_that_is_a_link(volume: Path, outside: Path) -> None:
    _relink(volume, Path("..2026_01_01_00_00_00.abc"))
    (volume / "..2026_01_01_00_00_00.abc").symlink_to(outside)


def _data_is_a_folder(volume: Path, outside: Path) -> None:
    (volume / "..data").unlink()
    (volume / "..data").mkdir()
    (volume / "..data/link").symlink_to(outside)


def _pipe_for_a_file(volume: Path, outside: Path) -> None:
    (volume / "..data/key").unlink()
    os.mkfifo(volume / "..data/key")


def _link_for_a_file(volume: Path, outside: Path) -> None:
    (volume / "..data/key").unlink()
    (volume / "..data/key").symlink_to(outside / "kept")


def _link_for_a_folder(volume: Path, outside: Path) -> None:
    (volume / "..data/d").rename(volume / "moved")
    (volume / "..data/d").symlink_to(outside)


def _names_in_the_way(volume: Path, outside: Path) -> None:
    for name in ("key", "d", "..data_tmp"):
        (volume / name).unlink(missing_ok=True)
        (volume / name).mkdir()
        (volume / name / "link").symlink_to(outside)


def _visible_link_elsewhere(volume: Path, outside: Path) -> None:
    (volume / "key").unlink()
    (volume / "key").symlink_to(outside / "kept")


def _pipe_for_data(volume: Path, outside: Path) -> None:
    (volume / "..data").unlink()
    os.mkfifo(volume / "..data")
    os.mkfifo(volume / "..data_tmp")


ATTACKS = [
    _relink, _relink_upwards, _own_name_that_is_a_link, _data_is_a_folder, _pipe_for_a_file, _link_for_a_file,
    _link_for_a_folder, _names_in_the_way, _visible_link_elsewhere, _pipe_for_data,
]  # fmt: skip


@pytest.mark.parametrize("new", [b"one", b"two"], ids=["unchanged", "changed"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_a_container_left_is_believed(
    tmp_path: Path, attack: Callable[[Path, Path], None], new: bytes
) -> None:
    """CVE-2017-1002102: links, pipes and folders in a volume neither delete nor write elsewhere, and nothing hangs."""
    volume, outside = tmp_path / "volume", tmp_path / "outside"
    volume.mkdir()
    (outside / "d").mkdir(parents=True)
    for name in ("kept", "key", "d/file"):
        (outside / name).write_text("one")
    files = {"key": VolumeFile(b"one", 0o644), "d/file": VolumeFile(b"one", 0o644)}
    atomic_writer.write(volume, files)
    before = content(outside)
    attack(volume, outside)
    files["key"] = VolumeFile(new, 0o644)
    atomic_writer.write(volume, files)
    assert content(outside) == before
    for name in files:
        assert (volume / name).resolve().is_relative_to(volume)
        assert (volume / name).read_bytes() == files[name].data
    assert not atomic_writer.write(volume, files)


def test_no_race_writes_or_deletes_elsewhere(tmp_path: Path) -> None:
    """CVE-2017-1002102: the fresh folder is exchanged for a link as soon as it is there, again and again."""
    volume, outside = tmp_path / "volume", tmp_path / "outside"
    volume.mkdir()
    (outside / "d").mkdir(parents=True)
    (outside / "kept").write_text("kept")
    (volume / "link").symlink_to(outside)
    before = content(outside)
    own = os.listdir

    class Fresh:
        """Exchanges whatever fresh folder there is."""

        def __init__(self) -> None:
            self.descriptor = os.open(volume, os.O_PATH)

        def strike(self) -> None:
            for name in own(volume):
                if name.startswith("..2"):
                    exchange(self.descriptor, name, "link")

    fresh = Fresh()
    with swapping(volume, "..data", "link") as swapper:
        number = 0
        while number < 200 or swapper.count < 300:
            number += 1
            try:
                atomic_writer.write(volume, {"d/new": VolumeFile(b"%d" % number, 0o644)})
            except OSError:
                pass  # the kubelet tries again
            fresh.strike()
    os.close(fresh.descriptor)
    assert content(outside) == before
