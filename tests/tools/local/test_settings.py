"""Settings of a local cluster: from flags and files, saved, and impossible ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local import settings
from pybernetes.tools.local.network import ip_families
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings, SettingsError


def test_settings_come_back_as_they_were_kept(tmp_path: Path) -> None:
    cluster = Cluster("trial", tmp_path)
    assert settings.load(cluster) == Settings()
    cluster.create()
    changed = settings.apply("trial", Settings(), {"nodes": 2, "hollow": 3, "proxy_mode": "nftables"})
    settings.save(cluster, changed)
    assert settings.load(cluster) == changed
    assert cluster.settings.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"later": 1}', "does not know the setting 'later'"),
        ('{"nodes": [{"name": "a", "number": 0, "later": 1}]}', "does not know the setting 'later'"),
        ('{"nodes": [{"name": "a"}]}', "missing 1 required positional argument: 'number'"),
        ('{"nodes": 5}', "not iterable"),
        ('{"nodes": [5]}', "keys"),
        ("[]", "list"),
        ('{"port": ', "Expecting value"),
        ("", "Expecting value"),
    ],
)
def test_saved_settings_that_cannot_be_read(tmp_path: Path, text: str, complaint: str) -> None:
    cluster = Cluster("trial", tmp_path)
    cluster.create()
    cluster.settings.write_text(text)
    with pytest.raises(SettingsError, match=complaint) as raised:
        settings.load(cluster)
    assert str(raised.value).startswith(f"{cluster.settings}: ")


@pytest.mark.parametrize(
    ("existing", "count", "names"),
    [
        ([], 2, ["c", "c-2"]),
        ([NodeSettings("c-2", 1)], 2, ["c-2", "c"]),
        ([NodeSettings("c", 0), NodeSettings("c-3", 2)], 3, ["c", "c-3", "c-2"]),
        ([NodeSettings("c", 0)], 1, ["c"]),
    ],
)
def test_new_nodes_take_free_numbers(existing: list[NodeSettings], count: int, names: list[str]) -> None:
    assert [node.name for node in settings.with_nodes("c", existing, count)] == names


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"proxy_mode": "magic"}, "proxy mode 'magic' is none of"),
        ({"cni": "string"}, "network 'string' is none of"),
        ({"nodes": "three"}, "nodes: 'three' is not a int"),
        ({"nodes": True}, "nodes: True is not a int"),
        ({"hollow": -1}, "hollow: -1 is out of range"),
        ({"metrics_resolution": 0}, "metrics_resolution: 0 is out of range"),
        ({"zones": 0}, "zones: 0 is out of range"),
        ({"nodes": 0}, "has 1 nodes already"),
        ({"host_network": True, "nodes": 2}, "room for one node only"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        settings.apply("c", Settings(nodes=[NodeSettings("c", 0)]), changes)


def test_the_ip_family() -> None:
    dual = settings.apply("c", Settings(), {"ip_family": "dual", "nodes": 1})
    assert dual.pod_range == f"10.244.0.0/16,{ip_families.pod_range('c')}"
    assert dual.service_ranges == ("10.96.0.0/16", ip_families.service_range("c"))
    dual.port, dual.node_range = 6443, "172.30.9.0/24"
    assert dual.node_ranges == ("172.30.9.0/24", ip_families.node_range("c"))
    assert settings.apply("c", dual, {}) == dual  # as another `up` does
    alone = settings.apply("c", Settings(), {"ip_family": "ipv6", "nodes": 1, "pod_range": "fd01::/56"})
    assert alone.pod_ranges == ("fd01::/56",) and alone.node_ranges == (ip_families.node_range("c"),)


@pytest.mark.parametrize(
    ("before", "changes", "complaint"),
    [
        ({}, {"ip_family": "ipv5"}, "'ipv5' is none of ipv4, dual, ipv6"),
        ({"port": 6443}, {"ip_family": "dual"}, "has the IP family ipv4, which stays"),
        ({}, {"ip_family": "dual", "host_network": True, "nodes": 1}, "host's own network has IPv4 only"),
        ({}, {"ip_family": "dual", "cni": "cloud"}, "routes of the local cloud are of IPv4 only"),
        ({}, {"ip_family": "ipv6", "hollow": 1}, "hollow nodes have IPv4 only"),
        ({}, {"ip_family": "ipv6", "pod_range": "10.1.0.0/16"}, "does not have"),
    ],
)
def test_families_that_cannot_be(before: dict[str, Any], changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        settings.apply("c", Settings(**before), changes)
