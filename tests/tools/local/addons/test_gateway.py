"""The gateway of a local cluster: what it needs, and how it runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pybernetes.client import kubeconfig
from pybernetes.lib.processes import privileges
from pybernetes.lib.tls import tls
from pybernetes.tools.local import processes
from pybernetes.tools.local.addons import gateway
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings, SettingsError


def _settings(**more: object) -> Settings:
    fields = {
        "gateway": True,
        "node_range": "10.200.0.0/24",
        "nodes": [NodeSettings("a", 1), NodeSettings("b", 2)],
    }
    return Settings(**(fields | more))  # type: ignore[arg-type]


def test_what_it_needs() -> None:
    gateway.check(_settings())
    gateway.check(_settings(gateway=False, nodes=[]))
    with pytest.raises(SettingsError, match="a node with real containers"):
        gateway.check(_settings(nodes=[]))
    with pytest.raises(SettingsError, match="proxy_mode none"):
        gateway.check(_settings(proxy_mode="none"))


def test_it_runs_in_the_network_of_the_first_node_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYBERNETES_HOME", str(tmp_path))
    cluster = Cluster("gateway-test")
    nodes = [NodeSettings("a", 1, stopped=True), NodeSettings("b", 2)]
    specs = processes.desired_processes(cluster, _settings(nodes=nodes, user=1_900_000_000))
    (spec,) = (spec for spec in specs if spec.name == gateway.NAME)
    assert spec.command[0] == "nsenter"
    assert len(privileges.numbers(spec.capabilities or ())) == len(gateway.CAPABILITIES), "all are known"
    assert any(word.endswith("-b") or "b" in word.rpartition("/")[2] for word in spec.command[1:2])
    assert "--proxy-user=2100000000" in spec.command or "--proxy-user=0" in spec.command
    for without in (_settings(gateway=False), _settings(nodes=nodes[:1])):
        assert gateway.NAME not in [spec.name for spec in processes.desired_processes(cluster, without)]


def test_its_identity_is_its_own_and_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYBERNETES_HOME", str(tmp_path))
    cluster = Cluster("gateway-test")
    cluster.create()
    tls.ensure_authority(cluster.certificates)
    gateway.prepare(cluster, "https://192.0.2.1:6443")
    file = cluster.root / "gateway" / "kubeconfig"
    assert os.stat(file).st_mode & 0o077 == 0
    first = file.read_bytes()
    gateway.prepare(cluster, "https://192.0.2.1:6443")
    assert file.read_bytes() == first, "made once"
    assert kubeconfig.load(str(file)) is not None
