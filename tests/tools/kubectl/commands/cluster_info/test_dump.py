"""Where cluster-info dump writes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.commands.cluster_info import dump
from pybernetes.tools.kubectl.errors import CommandError


def context(folder: Path) -> Any:
    return SimpleNamespace(flags=SimpleNamespace(output_directory=str(folder), output="json"))


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = Path(dump._target(context(tmp_path / "dump"), "default/pods.json"))
    with open(path, "w", opener=dump._private) as file:
        file.write("x")
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["../out/pods.json", "default/../../out/logs.txt"])
def test_names_of_a_hostile_server_lead_nowhere_else(name: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="not a name that a file can have"):
        dump._target(context(tmp_path / "dump"), name)
    assert not (tmp_path / "out").exists()


def test_an_absolute_name_stays_in_the_folder(tmp_path: Path) -> None:
    assert dump._target(context(tmp_path), "/etc/pods.json") == str(tmp_path / "etc" / "pods.json")
