"""What a credential plugin is told, and which of its answers are taken."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client import exec_credential
from pybernetes.client.exec_credential import ExecCredentialError

V1 = "client.authentication.k8s.io/v1"
SETTINGS = {"apiVersion": V1, "command": "plugin"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"command": "x"}, 'exec plugin: invalid apiVersion ""'),
        ({"command": "x", "apiVersion": "v1"}, 'exec plugin: invalid apiVersion "v1"'),
        ({"apiVersion": V1}, "exec plugin: command is not specified"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ExecCredentialError, match=message):
        exec_credential.check(settings)


@pytest.mark.parametrize(
    ("mode", "terminal", "interactive"),
    [("Never", True, False), ("IfAvailable", True, True), ("IfAvailable", False, False), ("Always", True, True)],
)  # fmt: skip
def test_who_may_ask_the_user(mode: str, terminal: bool, interactive: bool) -> None:
    assert exec_credential.is_interactive({**SETTINGS, "interactiveMode": mode}, terminal) is interactive


def test_a_program_that_must_ask_and_cannot() -> None:
    with pytest.raises(ExecCredentialError, match="standard input is not a terminal"):
        exec_credential.is_interactive({**SETTINGS, "interactiveMode": "Always"}, False)


def test_what_a_program_is_told() -> None:
    assert exec_credential.request(SETTINGS, {"server": "https://s"}, b"", False)["spec"] == {
        "interactive": False
    }
    told = exec_credential.request(
        {**SETTINGS, "provideClusterInfo": True},
        {"server": "https://s", "certificate-authority": "/ca"},
        b"pem",
        True,
    )
    cluster = {"server": "https://s", "certificate-authority-data": "cGVt"}
    assert told == {
        "kind": "ExecCredential",
        "apiVersion": V1,
        "spec": {"interactive": True, "cluster": cluster},
    }
    environment = exec_credential.environment(
        {**SETTINGS, "env": [{"name": "A", "value": "1"}]}, {"A": "0", "B": "2"}, "{}"
    )
    assert environment == {"A": "1", "B": "2", "KUBERNETES_EXEC_INFO": "{}"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({}, "plugin returned version client.authentication.k8s.io/__internal"),
        (
            {"apiVersion": V1, "status": []},
            "cannot unmarshal array into Go struct field ExecCredential.status",
        ),
        ({"apiVersion": V1, "status": {"token": 5}}, "ExecCredentialStatus.status.token of type string"),
        ({"apiVersion": V1}, "didn't return a status field"),
        ({"apiVersion": f"{V1}beta1", "status": {"token": "t"}}, "plugin returned version"),
        ({"apiVersion": V1, "status": {}}, "didn't return a token or cert/key pair"),
        ({"apiVersion": V1, "status": {"token": "t", "clientKeyData": "k"}}, "only certificate or key"),
    ],
)
def test_answers_that_are_refused(answer: Any, message: str) -> None:
    with pytest.raises(ExecCredentialError, match=message):
        exec_credential.status_of(answer, SETTINGS)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            b"foo\n",
            "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value",
        ),
        (b"[1]", "cannot unmarshal array into Go value"),
        (b'{"a" 1}', "json parse error: invalid character '1' after object key$"),
        (b'{"kind":1}', r"cannot unmarshal number into Go struct field \.kind of type string"),
        (b'{"kind":"Foo","apiVersion":"v1"}', 'no kind "Foo" is registered for version "v1"'),
        (b'"a', "decoding stdout: yaml: "),
    ],
)
def test_output_that_is_no_credential(raw: bytes, message: str) -> None:
    with pytest.raises(ExecCredentialError, match=message):
        exec_credential.read(raw)


def test_a_program_may_print_yaml() -> None:
    answer = exec_credential.read(f"apiVersion: {V1}\nstatus: {{token: t}}\n".encode())
    assert exec_credential.status_of(answer, SETTINGS) == {"token": "t"}


def test_a_program_cannot_ask_when_others_read_the_input() -> None:
    with pytest.raises(ExecCredentialError, match="used by stdin resource manifest reader"):
        exec_credential.is_interactive({**SETTINGS, "interactiveMode": "Always"}, True, True)
    assert not exec_credential.is_interactive({**SETTINGS, "interactiveMode": "IfAvailable"}, True, True)
