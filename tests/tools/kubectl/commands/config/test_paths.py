"""Paths in kubeconfig files: shown as they stand, written as seen from the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.kubectl.run_kubectl import run

CONTENT = """clusters:
- name: a
  cluster: {server: "https://a", certificate-authority: sub/ca.crt}
users:
- name: a
  user: {tokenFile: ./x, exec: {command: ./plug, apiVersion: client.authentication.k8s.io/v1}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config"
    path.write_text(CONTENT)
    return path


def user(config: Path) -> Any:
    _, out, _ = run("config", "view", "-o", "json", "--kubeconfig", str(config))
    return json.loads(out)["users"][0]["user"]


def test_what_is_relative_stays_so(config: Path) -> None:
    _, out, _ = run("config", "view", "--kubeconfig", str(config))
    assert "certificate-authority: sub/ca.crt\n" in out
    assert user(config)["tokenFile"] == "./x" and user(config)["exec"]["command"] == "./plug"
    for line in (("set-context", "z"), ("set", "users.a.username", "me")):
        assert run("config", *line, "--kubeconfig", str(config))[0] == 0
    assert "tokenFile: ./x\n" in config.read_text() and "command: ./plug\n" in config.read_text()


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("{folder}/sub/plug", "sub/plug"),
        ("./sub/plug", "sub/plug"),
        ("{folder}/plug", "./plug"),  # plug alone would be looked for on the path
        ("{folder}/../plug", "{folder}/../plug"),
        ("plug", "plug"),
        ("/usr/bin/plug", "/usr/bin/plug"),
    ],
)
def test_programs_are_named_from_the_folder_of_the_file(config: Path, given: str, written: str) -> None:
    command = given.format(folder=config.parent)
    line = ("config", "set-credentials", "a", f"--exec-command={command}", "--kubeconfig", str(config))
    assert run(*line)[0] == 0
    assert user(config)["exec"]["command"] == written.format(folder=config.parent)
    assert user(config)["tokenFile"] == "x"  # the entry is written anew as a whole


def test_flattened_files_are_found_from_the_folder_of_the_file(config: Path) -> None:
    line = ("config", "view", "--flatten", "--kubeconfig", str(config))
    missing = config.parent / "sub" / "ca.crt"
    assert run(*line) == (1, "", f"error: open {missing}: no such file or directory\n")
    missing.parent.mkdir()
    missing.write_text("a")
    assert "certificate-authority-data: YQ==\n" in run(*line)[1]
