"""The kubeconfig of a server that the API server calls: read like any other, and refused with a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.control_plane.apiserver.review_webhooks import kubeconfig

CONFIG = """
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9/review"}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


def test_the_current_context_says_where_and_as_whom(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(CONFIG)
    (tmp_path / "token").write_text("abc\n")
    remote = kubeconfig.load(str(tmp_path / "config"))
    assert (remote.url, remote.path) == ("http://127.0.0.1:9/review", "/review")
    assert remote.headers()["Authorization"] == "Bearer abc"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", "it is not a kubeconfig"),
        ("clusters: 5", "clusters is no list"),
        ("users: [{name: u, user: {token: [1]}}]", "token of users is no text"),
        ("current-context: [x]", "current-context is no text"),
        ("current-context: other", 'context "other" does not exist'),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(ValueError, match=problem):
        kubeconfig.load(str(tmp_path / "config"))
