"""Files that change all at once."""

from __future__ import annotations

from pathlib import Path

from pybernetes.node.kubelet.volumes import atomic_writer
from pybernetes.node.kubelet.volumes.volume_kind import VolumeFile


def test_files_change_all_at_once(tmp_path: Path) -> None:
    assert atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644), "d/b": VolumeFile(b"2", 0o600)})
    assert (tmp_path / "a").read_text() == "1" and (tmp_path / "d/b").stat().st_mode & 0o777 == 0o600
    before = (tmp_path / "..data").readlink()
    assert not atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644), "d/b": VolumeFile(b"2", 0o600)})
    assert atomic_writer.write(tmp_path, {"c": VolumeFile(b"3", 0o644)})
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("..")) == ["c"]
    assert not (tmp_path / before).exists()
