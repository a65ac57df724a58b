"""Changes to kubeconfig files: one at a time, and the file stays what and whose it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.tools.kubectl.run_kubectl import run


def test_a_file_behind_a_link_is_changed_where_it_is(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "config"
    real.write_text("apiVersion: v1\nkind: Config\n")
    real.chmod(0o640)
    link.symlink_to("real")
    code, out, err = run("config", "set-context", "a", "--kubeconfig", str(link))
    assert (code, out, err) == (0, 'Context "a" created.\n', "")
    assert link.is_symlink() and "name: a" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["config", "real"]


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    assert run("config", "set-credentials", "a", "--token=t", "--kubeconfig", str(path))[0] == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["config"]


def test_two_do_not_change_a_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config"
    lock = tmp_path / "config.lock"
    lock.touch()
    code, _, err = run("config", "set", "current-context", "a", "--kubeconfig", str(path))
    assert (code, err) == (1, f"error: open {lock}: file exists\n")
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("preferences.colors", "true", "preferences:\n  colors: true\n"),
        ("users.u.act-as", "me", "    as: me\n"),
        ("users.u.act-as-uid", "x", "    as-uid: x\n"),
    ],
)
def test_names_of_the_original(name: str, value: str, written: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    assert run("config", "set", name, value, "--kubeconfig", str(path))[:2] == (
        0,
        f'Property "{name}" set.\n',
    )
    assert written in path.read_text()
    assert run("config", "unset", name, "--kubeconfig", str(path))[:2] == (0, f'Property "{name}" unset.\n')
    assert written not in path.read_text()
