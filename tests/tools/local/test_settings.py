"""Settings of a local cluster: from flags and files, kept, and what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local import processes, service_urls, settings
from pybernetes.tools.local.images import full_name
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings, SettingsError


def test_settings_come_back_as_they_were_kept(tmp_path: Path) -> None:
    cluster = Cluster("trial", tmp_path)
    assert settings.load(cluster) == Settings()
    cluster.create()
    made = settings.apply("trial", Settings(), {"nodes": 2, "hollow": 3, "proxy_mode": "nftables"})
    settings.save(cluster, made)
    assert settings.load(cluster) == made
    assert cluster.settings.stat().st_mode & 0o777 == 0o600


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
        ({"nodes": 0}, "has 1 nodes already"),
        ({"host_network": True, "nodes": 2}, "room for one node only"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        settings.apply("c", Settings(nodes=[NodeSettings("c", 0)]), changes)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nodes: 3\nproxyMode: userspace", {"nodes": 3, "proxy_mode": "userspace"}),
        ("kubeletArguments: [--max-pods=20]", {"kubelet_arguments": ["--max-pods=20"]}),
        ("node: 3", "unknown field 'node'"),
        ("nodes: [", "while parsing"),
    ],
)
def test_files_give_settings(tmp_path: Path, text: str, found: dict[str, Any] | str) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(f"apiVersion: {settings.API_VERSION}\nkind: {settings.KIND}\n{text}\n")
    if isinstance(found, dict):
        assert settings.from_file(path) == found
    else:
        with pytest.raises(SettingsError, match=found):
            settings.from_file(path)
    path.write_text(text)
    with pytest.raises(SettingsError):
        settings.from_file(path)


def test_a_stopped_node_runs_nothing(tmp_path: Path) -> None:
    nodes = [NodeSettings("c", 0), NodeSettings("c-2", 1, stopped=True)]
    wanted = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=nodes))
    assert [program.name for program in wanted] == ["control-plane", "containerd-c", "node-c"]
    assert wanted[1].command[:2] == ("nsenter", "--net=/run/netns/pyb-c-c")
    alone = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=nodes, host_network=True))
    assert alone[1].command[0] == "containerd"


NODES = [
    {
        "status": {
            "addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.2"}]
        }
    }
]


@pytest.mark.parametrize(
    ("kind", "ports", "ingress", "found"),
    [
        ("NodePort", [{"port": 80, "nodePort": 30001}], [], ["http://10.0.0.2:30001"]),
        ("LoadBalancer", [{"port": 80, "nodePort": 30001}], [{"ip": "fd00::1"}], ["http://[fd00::1]:80"]),
        ("ClusterIP", [{"port": 80}], [], None),
    ],
)
def test_urls_of_services(kind: str, ports: list[Any], ingress: list[Any], found: list[str] | None) -> None:
    service = {
        "metadata": {"name": "web"},
        "spec": {"type": kind, "ports": ports},
        "status": {"loadBalancer": {"ingress": ingress}},
    }
    if found is None:
        with pytest.raises(service_urls.NotReachable, match="port-forward"):
            service_urls.urls(service, NODES)
    else:
        assert service_urls.urls(service, NODES) == found


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("web", "docker.io/library/web:latest"),
        ("web:1", "docker.io/library/web:1"),
        ("me/web:1", "docker.io/me/web:1"),
        ("localhost/web", "localhost/web:latest"),
        ("example.com:5000/a/b", "example.com:5000/a/b:latest"),
    ],
)
def test_names_of_images(name: str, full: str) -> None:
    assert full_name(name) == full
