"""Bootstrap tokens: their Secrets, the groups that they give, and which kubeconfig their commands take."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from pybernetes.tools.kubeadm import tokens
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.commands.token import kubeconfig_path, left

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


def test_a_token_survives_its_secret() -> None:
    token = {
        "token": tokens.generate(),
        "ttl": "24h0m0s",
        "usages": ["signing"],
        "groups": ["system:bootstrappers:a"],
    }
    again = tokens.from_secret(tokens.secret(token, NOW))
    assert again["token"] == token["token"] and again["expires"] == "2026-01-03T03:04:05Z"
    assert again["usages"] == ["signing"] and again["groups"] == ["system:bootstrappers:a"]
    assert tokens.expiration({"ttl": "0s"}, NOW) == ""
    assert (
        left(again["expires"], NOW) == "1d"
        and left("", NOW) == "<forever>"
        and left("2020-01-01T00:00:00Z", NOW) == "<invalid>"
    )


def test_where_the_kubeconfig_of_tokens_is(tmp_path: Path) -> None:
    own, home = tmp_path / "own", tmp_path / "home"
    (home / ".kube").mkdir(parents=True)
    environment = {"KUBECONFIG": str(own), "HOME": str(home)}
    default = Arguments(kubeconfig=str(tmp_path / "admin.conf"), given=frozenset())
    given = Arguments(kubeconfig="/x", given=frozenset(("kubeconfig",)))
    assert kubeconfig_path(given, environment) == Path("/x")
    assert kubeconfig_path(default, environment) == own  # none is there
    (tmp_path / "admin.conf").touch()
    assert kubeconfig_path(default, environment) == tmp_path / "admin.conf"
    (home / ".kube" / "config").touch()
    assert kubeconfig_path(default, {"HOME": str(home)}) == home / ".kube" / "config"
    own.touch()
    assert kubeconfig_path(default, environment) == own


@pytest.mark.parametrize("group", ["system:masters", "system:bootstrappers:", "system:bootstrappers:A", "x"])
def test_groups_that_tokens_cannot_give(group: str) -> None:
    assert tokens.problem_with_group(group)
