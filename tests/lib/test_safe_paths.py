"""Paths that stay inside their volume."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.lib.safe_paths import make_sub_path, resolve_inside


@pytest.mark.parametrize("path", ["/abs", "../up", "link/x", "a/../../b"])
def test_sub_paths_stay_in_their_volume(tmp_path: Path, path: str) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    (volume / "link").symlink_to("/etc")
    with pytest.raises(OSError):
        make_sub_path(str(volume), path, 0o755)
    assert make_sub_path(str(volume), "new/deep", 0o755) == str(volume / "new/deep")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ""),
        ("etc/passwd", "/etc/passwd"),
        ("./etc//", "/etc"),
        ("run", "/var/run"),  # an absolute link is meant inside
        ("out", "/etc"),
        ("run/../run/pid", "/var/run/pid"),
        ("missing", None),
        ("etc/passwd/more", None),
        ("loop", None),
    ],
)
def test_paths_inside_of_an_image(tmp_path: Path, path: str, expected: str | None) -> None:
    for name in ("etc", "var/run"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("etc/passwd", "var/run/pid"):
        (tmp_path / name).touch()
    for name, target in (("run", "/var/run"), ("out", "../../../etc"), ("loop", "loop")):
        (tmp_path / name).symlink_to(target)
    if expected is None:
        with pytest.raises(OSError):
            resolve_inside(str(tmp_path), path)
    else:
        assert resolve_inside(str(tmp_path), path) == f"{tmp_path}{expected}"
