"""Credentials from a program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.kubectl.connection.client import Client
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kubeconfig.access import Access
from pybernetes.tools.kubectl.kubeconfig.exec_credentials import credentials

V1 = "client.authentication.k8s.io/v1"


def program(tmp_path: Path, text: str) -> Access:
    path = tmp_path / "plugin"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    access = Access("https://server")
    access.exec = {"apiVersion": V1, "command": str(path), "interactiveMode": "Never"}
    access.user = "jane"
    return access


def answer(**status: Any) -> str:
    return f"print({json.dumps({'apiVersion': V1, 'status': status})!r})"


def test_a_token(tmp_path: Path) -> None:
    access = program(tmp_path, answer(token="t"))
    credentials(access)
    assert access.headers == {"Authorization": "Bearer t"}


def test_a_certificate(tmp_path: Path) -> None:
    access = program(tmp_path, answer(clientCertificateData="-----BEGIN c", clientKeyData="k"))
    credentials(access)
    assert (access.certificate, access.key, access.headers) == ("-----BEGIN c", "k", {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print('nonsense')", "decoding stdout: "),
        ("print('{}')", "plugin returned version client.authentication.k8s.io/__internal"),
        (answer(), "exec plugin didn't return a token or cert/key pair"),
        ("raise SystemExit(3)", "failed with exit code 3"),
    ],
)
def test_programs_that_fail(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CommandError, match="getting credentials: ") as caught:
        credentials(program(tmp_path, text))
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apiVersion": "v1"}, 'exec plugin: invalid apiVersion "v1"'),
        ({"interactiveMode": ""}, "interactiveMode must be specified for jane"),
        ({"interactiveMode": "Foo"}, 'invalid interactiveMode for jane: "Foo"'),
        (
            {"interactiveMode": "", "command": ""},
            r"configuration: \n\* command must.*\n\* interactiveMode must",
        ),
        ({"command": "no-such-program", "installHint": "get it"}, "not found.*get it"),
    ],
)
def test_settings_that_are_refused(tmp_path: Path, change: dict[str, str], message: str) -> None:
    access = program(tmp_path, answer(token="t"))
    assert access.exec is not None
    access.exec.update(change)
    with pytest.raises(CommandError, match=f"(?s){message}"):
        credentials(access)


@pytest.mark.parametrize("path", [".", "", ".:/usr/bin"])
def test_a_program_of_the_folder_we_are_in_is_not_run(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = program(tmp_path, answer(token="stolen"))
    assert access.exec is not None
    access.exec["command"] = "plugin"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(CommandError, match="exec: executable plugin not found"):
        credentials(access)
    monkeypatch.setenv("PATH", str(tmp_path))
    credentials(access)
    assert access.headers == {"Authorization": "Bearer stolen"}


def test_a_program_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    access = program(tmp_path, "while True: print('x' * 1000000)")
    with pytest.raises(CommandError, match="printed more than 16 MiB"):
        credentials(access)


def test_without_credentials_nothing_is_asked(tmp_path: Path) -> None:
    access = program(tmp_path, "raise SystemExit(3)")
    client = Client(access)
    for _ in range(2):
        with pytest.raises(CommandError, match="failed with exit code 3"):
            client.headers({})


@pytest.mark.parametrize(
    ("text", "reason"),
    [("no program", "exec format error"), ("#!/nowhere/at-all", "no such file or directory")],
)
def test_a_program_that_does_not_start(text: str, reason: str, tmp_path: Path) -> None:
    access = program(tmp_path, "")
    assert access.exec is not None
    Path(access.exec["command"]).write_text(text)
    with pytest.raises(CommandError, match=f"exec: fork/exec .*: {reason}"):
        credentials(access)
