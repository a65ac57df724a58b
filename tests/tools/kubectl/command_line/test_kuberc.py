"""kuberc: what preferences make of a command line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from pybernetes.tools.kubectl.command_line import kuberc, shared_flags
from pybernetes.tools.kubectl.command_line.flags import declare
from pybernetes.tools.kubectl.errors import Verbatim

HEAD = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n"
FILE = (
    HEAD
    + """
defaults:
- command: get
  options: [{name: output, default: json}]
- command: create service clusterip
  options: [{name: tcp, default: "80"}]
aliases:
- name: getn
  command: get
  prependArgs: [nodes]
  options: [{name: output, default: wide}]
- name: runx
  command: run
  options: [{name: image, default: nginx}]
  appendArgs: [--, one]
"""
)


def applied(tmp_path: Path, line: str, text: str = FILE) -> tuple[list[str], str]:
    path, told = tmp_path / "kuberc", io.StringIO()
    path.write_text(text)
    argv, _ = kuberc.apply(line.split(), declare(shared_flags.GLOBAL), {"KUBERC": str(path)}, told)
    return argv, told.getvalue()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("get pods", "get --output=json pods"),
        ("get pods -oyaml", "get pods -oyaml"),
        ("get pods --output name", "get pods --output name"),
        ("-n x get pods", "-n x get --output=json pods"),
        ("describe pods", "describe pods"),
        ("getn a", "get --output=wide nodes a"),
        ("getn a -o json", "get nodes a -o json"),
        ("-n=x runx web", "-n=x run --image=nginx web -- one"),
        ("create service clusterip a", "create service clusterip --tcp=80 a"),
        ("other a", "other a"),
    ],
)
def test_a_command_line(tmp_path: Path, line: str, expected: str) -> None:
    assert applied(tmp_path, line) == (expected.split(), "")


def test_the_first_version_is_read_too(tmp_path: Path) -> None:
    text = "apiVersion: kubectl.config.k8s.io/v1alpha1\nkind: Preference\noverrides:\n- command: get\n  flags:\n  - {name: output, default: name}\n"
    assert applied(tmp_path, "get pods", text)[0] == ["get", "--output=name", "pods"]


def test_the_first_version_has_no_policy_for_credential_programs(tmp_path: Path) -> None:
    text = "apiVersion: kubectl.config.k8s.io/v1alpha1\nkind: Preference\ncredentialPluginPolicy: DenyAll\n"
    argv, told = applied(tmp_path, "get pods", text)
    assert argv == ["get", "pods"]
    assert told.endswith('strict decoding error: unknown field "credentialPluginPolicy"')


def test_no_value_is_an_empty_one(tmp_path: Path) -> None:
    text = f"{HEAD}aliases:\n- name: getn\n  command: get\n  options: [{{name: namespace, default: }}]\n  appendArgs: [null]\n"
    assert applied(tmp_path, "getn a", text) == (["get", "--namespace=", "a", ""], "")


def test_unknown_fields_are_told_and_ignored(tmp_path: Path) -> None:
    argv, told = applied(tmp_path, "get pods", FILE + "other: 1\n")
    assert argv == ["get", "--output=json", "pods"]
    assert told.endswith('strict decoding error: unknown field "other"')
    _, told = applied(
        tmp_path, "get pods", f"{HEAD}foo: 1\naliases: [{{name: a, command: get, bar: 1}}]\nabc: 1\n"
    )
    assert told.endswith('unknown field "abc", unknown field "aliases[0].bar", unknown field "foo"')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aliases: [{name: a1, command: get}]", "invalid alias name, can only include alphabetical characters"),
        ("aliases: [{name: a, command: get}, {name: a, command: get}]", "duplicate alias name a"),
        ("defaults: [{command: get, options: [{name: -o, default: x}]}]", "flag name -o should be in long form without dashes"),
        ("defaults: [{command: get, options: [{name: nothing, default: x}]}]", "invalid flag nothing for command get"),
        ("credentialPluginPolicy: Some", 'unknown plugin policy: "Some"'),
        ("credentialPluginPolicy: Allowlist", 'credential plugin policy set to "Allowlist", but allowlist is unspecified'),
        ("kind: Other", "no valid preferences found in"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(Verbatim) as caught:
        applied(tmp_path, "get pods", HEAD + text)
    assert expected in caught.value.message


def test_switched_off_and_named_exclude_one_another() -> None:
    with pytest.raises(Verbatim, match="mutually exclusive"):
        kuberc.apply(["get", "--kuberc=x"], {}, {"KUBERC": "off"}, io.StringIO())
