"""Variables from files of volumes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.node.kubelet.containers import environment_files
from pybernetes.node.kubelet.containers.environment_files import EnvironmentFiles
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.containers.expansion import LONGEST, Room, TooLong


def reference(key: str, path: str = "env", volume: str = "v", **more: bool) -> dict[str, object]:
    return {"volumeName": volume, "path": path, "key": key, **more}


def test_lines_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("A=1\nexport B = '2'\n# no\nA=3\nC=\n")
    (tmp_path / "link").symlink_to("/env")
    files = EnvironmentFiles({"v": str(tmp_path)}, Room())
    assert [files.value(reference(key)) for key in "ABC"] == ["1", "2", ""]
    assert files.value(reference("A", "link")) == "1", "a link means the volume"
    assert files.value(reference("D", optional=True)) is None
    for path in ("env", "none"):
        with pytest.raises(ConfigError, match=f'key "D" not found in file "{path}"'):
            files.value(reference("D", path))
    with pytest.raises(ConfigError, match='cannot find the volume "w"'):
        files.value(reference("A", volume="w"))


def test_files_are_read_once_and_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of variables of large files would hold up the kubelet for minutes."""
    for number in range(10):
        (tmp_path / str(number)).write_text("A=1\n" + "b\n" * 30_000)
    read, reading = list[str](), environment_files.read_below

    def counted(root: str, path: str) -> str:
        read.append(path)
        return reading(root, path)

    monkeypatch.setattr(environment_files, "read_below", counted)
    files = EnvironmentFiles({"v": str(tmp_path)}, Room())
    for number in range(10_000):
        assert files.value(reference("A", str(number % 10))) == "1"
    assert len(read) == 10
    with pytest.raises(TooLong):
        for number in range(10_000):
            files.value(reference("A", "./" * number + "0"))
    assert len(read) < 10 + LONGEST / 60_000 + 1
