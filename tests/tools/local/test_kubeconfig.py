"""Entries of clusters in kubeconfigs that also hold others."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

from pybernetes.lib.tls import tls
from pybernetes.tools.local import kubeconfig

MINE = kubeconfig.entries("mine", "https://127.0.0.1:1", b"authority", b"certificate", b"key")
OTHERS = {
    "clusters": [{"name": "other", "cluster": {}}],
    "users": [{"name": "other", "user": {}}],
    "contexts": [{"name": "other", "context": {}}],
    "current-context": "other",
    "preferences": {"colors": True},
}


def test_merging_keeps_what_others_have_and_chooses_the_new_context() -> None:
    both = kubeconfig.merged(OTHERS, MINE)
    assert [entry["name"] for entry in both["clusters"]] == ["other", "mine"]
    assert both["current-context"] == "mine" and both["preferences"] == {"colors": True}
    assert kubeconfig.merged(both, MINE) == both


def test_taking_out_gives_back_what_was_there() -> None:
    left = kubeconfig.without(kubeconfig.merged(OTHERS, MINE), "mine")
    assert left["clusters"] == OTHERS["clusters"] and left["current-context"] == "other"
    assert kubeconfig.without(kubeconfig.merged({}, MINE), "mine")["current-context"] == ""


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "config"
    kubeconfig.write(path, MINE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kubeconfig.read(path) == MINE and kubeconfig.read(tmp_path / "none") == {}


def test_the_key_is_written_in_the_form_that_java_clients_read() -> None:
    admin = tls.issue(tls.create_authority("ca"), "admin")
    written = kubeconfig.entries("mine", "https://127.0.0.1:1", b"authority", admin.certificate, admin.key)
    key = base64.b64decode(written["users"][0]["user"]["client-key-data"])
    assert key.startswith(b"-----BEGIN EC PRIVATE KEY-----\n")
