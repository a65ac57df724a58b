"""What ``pyb up --encrypt`` and ``--audit`` make."""

from __future__ import annotations

from pathlib import Path

import yaml

from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.audit import policy
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption
from pybernetes.tools.local import hardening
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings


def test_nothing_by_default(tmp_path: Path) -> None:
    cluster = Cluster("c", tmp_path)
    assert hardening.flags(cluster, Settings()) == []


def test_a_key_is_made_once_and_kept(tmp_path: Path) -> None:
    cluster = Cluster("c", tmp_path)
    cluster.create()
    (flag,) = hardening.flags(cluster, Settings(encrypt=True))
    path = Path(flag.partition("=")[2])
    before = path.read_text()
    assert {file.stat().st_mode & 0o777 for file in cluster.certificates.iterdir()} == {0o600}
    assert hardening.flags(cluster, Settings(encrypt=True)) == [flag] and path.read_text() == before
    sealed, _ = Encryption((), str(path)).seal("/registry/x.example/a/b", b"{}")
    assert sealed == b"{}", "only secrets are encrypted"
    # Without encryption what was encrypted is still read.
    assert hardening.flags(cluster, Settings()) == [flag]
    (entry,) = yaml.safe_load(path.read_text())["resources"]
    assert [list(provider) for provider in entry["providers"]] == [["identity"], ["secretbox"]]


def test_the_audit_policy_is_one(tmp_path: Path) -> None:
    cluster = Cluster("c", tmp_path)
    cluster.create()
    arguments = parser().parse_args(hardening.flags(cluster, Settings(audit=True)))
    assert len(policy.load(arguments.audit_policy_file).rules) == 6
    assert arguments.audit_log_path == str(hardening.audit_log(cluster))
