"""kubeconfig files with kubectl's errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.client.kubeconfig_files import ORIGIN
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kubeconfig.files import load, read


def test_entries_know_their_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("users:\n- name: a\n  user:\n    tokenFile: token\n")
    second.write_text("users:\n- name: a\n- name: b\n")
    users = load([str(first), str(tmp_path / "missing"), str(second)], explicit=False)["users"]
    assert [(user["name"], user[ORIGIN]) for user in users] == [("a", str(first)), ("b", str(second))]
    assert users[0]["user"]["tokenFile"] == str(tmp_path / "token")
    assert read(str(first)) == {"users": [{"name": "a", "user": {"tokenFile": "token"}}]}
    assert read(str(tmp_path / "missing")) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: [", 'error loading config file "{path}": yaml: '),
        ("- a", 'error loading config file "{path}": it is not a kubeconfig'),
        (None, "stat {path}: no such file or directory"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "config"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CommandError) as caught:
        load([str(path)], explicit=True)
    assert caught.value.message.startswith(message.format(path=path))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(
        CommandError, match=f'error loading config file "{tmp_path}": read {tmp_path}: is a directory'
    ):
        load([str(tmp_path)], explicit=True)
