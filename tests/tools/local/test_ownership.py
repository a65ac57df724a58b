"""Whose process the control plane is, and what is its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pybernetes.tools.local import ownership
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings
from tests.support import require_root

USER = 1_900_000_004


def _made(folder: Path, settings: Settings) -> Cluster:
    cluster = Cluster("c", folder)
    cluster.create()
    saved_settings.save(cluster, settings)
    for path in (cluster.data / "store.db", cluster.data / "deep" / "file", cluster.certificates / "ca.key"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
        path.chmod(0o600)
    return cluster


def test_every_cluster_has_a_user_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_root()
    users = [ownership.user_for(Cluster(name, tmp_path)) for name in ("a", "b", "c")]
    assert len(set(users)) == 3 and all(1_900_000_000 <= user < 2**31 - 1 for user in users)
    assert users[0] == ownership.user_for(Cluster("a", tmp_path))
    monkeypatch.setattr(ownership, "_capabilities", lambda: 0)
    assert ownership.user_for(Cluster("a", tmp_path)) == 0  # root that may not become another user
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert ownership.user_for(Cluster("a", tmp_path)) == 0


@pytest.mark.parametrize(
    ("text", "mapped"), [("0 0 4294967295", True), ("0 100000 65536", False), ("0 0 1\n1 1 4294967294", True), ("", False)]
)  # fmt: skip
def test_a_namespace_may_not_have_the_user(text: str, mapped: bool) -> None:
    assert ownership._is_mapped(USER, text) is mapped


def test_a_folder_of_root_is_handed_over(tmp_path: Path) -> None:
    """Its store and its certificates, and nothing else: what root reads and writes by name stays root's."""
    require_root()
    settings = Settings(user=USER, nodes=[NodeSettings("c", 0)], node_range="172.30.1.0/24")
    cluster = _made(tmp_path, settings)
    outside = tmp_path / "outside"
    outside.write_text("x")
    os.link(outside, cluster.data / "second-name")
    (cluster.data / "link").symlink_to(outside)
    for _ in range(2):
        ownership.hand_over(cluster, settings)
    assert outside.stat().st_uid == 0
    for path in (
        cluster.data,
        cluster.certificates,
        cluster.data / "deep" / "file",
        cluster.certificates / "ca.key",
    ):
        assert (path.stat().st_uid, path.stat().st_gid) == (USER, USER)
    assert [(cluster.root / name).stat().st_uid for name in ("", "logs", "cluster.json")] == [0, 0, 0]
    assert (cluster.root.stat().st_mode & 0o7777, cluster.root.stat().st_gid) == (0o2710, USER)
    saved_settings.save(cluster, settings)  # as pyb pause does
    state = cluster.settings.stat()
    assert (state.st_uid, state.st_gid, state.st_mode & 0o777) == (0, USER, 0o640)
    assert not cluster.volumes.exists()


def test_without_another_user_nothing_changes(tmp_path: Path) -> None:
    cluster = _made(tmp_path, Settings())
    ownership.hand_over(cluster, Settings())
    assert cluster.root.stat().st_mode & 0o7777 == 0o700


def test_what_lies_in_a_closed_folder_asks_for_a_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "_mode", lambda path: 0o700 if path == tmp_path / "closed" else 0o755)
    open_cluster, closed = Cluster("c", tmp_path / "open"), Cluster("c", tmp_path / "closed")
    assert not ownership.is_closed(open_cluster, Settings())
    assert ownership.is_closed(closed, Settings())
    named = Settings(apiserver_arguments=[f"--audit-policy-file={tmp_path}/closed/policy.yaml", "--v=2"])
    assert ownership.named_files(named) == [tmp_path / "closed" / "policy.yaml"]
    assert ownership.is_closed(open_cluster, named)
