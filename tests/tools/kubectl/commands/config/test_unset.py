"""Fields that have fields of their own are taken out of a kubeconfig as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.tools.kubectl.run_kubectl import run

_CONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://c.example', extensions: [{name: e, extension: {a: b}}]}}]
contexts: [{name: one, context: {cluster: c, user: u}}]
users:
- {name: u, user: {token: t, as: a, as-groups: [g], exec: {command: c, apiVersion: client.authentication.k8s.io/v1}}}
- {name: v.w, user: {auth-provider: {name: oidc, config: {a: b}}}}
"""


@pytest.mark.parametrize(
    ("name", "plural", "place", "field"),
    [
        ("users.u.exec", "users", 0, "exec"),
        ("users.u.act-as-groups", "users", 0, "as-groups"),
        ("users.u.act-as", "users", 0, "as"),
        ("users.v.w.auth-provider", "users", 1, "auth-provider"),
        ("clusters.c.extensions", "clusters", 0, "extensions"),
    ],
)
def test_a_field_is_gone_and_the_others_are_not(
    name: str, plural: str, place: int, field: str, tmp_path: Path
) -> None:
    path = tmp_path / "config"
    path.write_text(_CONFIG)
    code, out, _ = run("config", "unset", name, "--kubeconfig", str(path))
    assert (code, out) == (0, f'Property "{name}" unset.\n')
    before, after = (yaml.safe_load(text)[plural][place][plural[:-1]] for text in (_CONFIG, path.read_text()))
    assert set(after) == set(before) - {field}


@pytest.mark.parametrize("command", [("unset",), ("set", "x")])
@pytest.mark.parametrize("name", ["users.u.exec.command", "users.v.w.auth-provider.config.a"])
def test_a_part_of_such_a_field_is_refused(command: tuple[str, ...], name: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(_CONFIG)
    code, _, err = run("config", command[0], name, *command[1:], "--kubeconfig", str(path))
    assert (code, err) == (1, f"error: unable to parse one or more field values of {name}\n")
    assert path.read_text() == _CONFIG
