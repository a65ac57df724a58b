"""The smaller parts: configuration, command line, health, picking targets, what the kernel tells."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from pybernetes.cmd import kube_proxy
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.http.messages import Request
from pybernetes.node.proxy import config, conntrack
from pybernetes.node.proxy.backend import LocalTraffic
from pybernetes.node.proxy.balance import Balancer
from pybernetes.node.proxy.config import ConfigurationError
from pybernetes.node.proxy.health import Health
from pybernetes.node.proxy.proxy_server import local_traffic
from pybernetes.node.proxy.rule_monitor import Reader
from pybernetes.node.proxy.service_port import Node, Target

# -- configuration ---------------------------------------------------------------------------------------


def asked(*arguments: str) -> dict[str, Any]:
    return kube_proxy.configuration(kube_proxy.parser().parse_args(arguments))


def test_defaults_are_upstreams() -> None:
    found = asked()
    assert found["healthzBindAddress"] == "0.0.0.0:10256" and found["metricsBindAddress"] == "127.0.0.1:10249"
    assert found["iptables"] == {
        "localhostNodePorts": True, "masqueradeAll": False, "masqueradeBit": 14, "syncPeriod": "30s",
        "minSyncPeriod": "1s",
    }  # fmt: skip
    assert found["conntrack"]["tcpEstablishedTimeout"] == "24h0m0s" and found["oomScoreAdj"] == -999


def test_flags(tmp_path: Path) -> None:
    found = asked("--proxy-mode=nftables", "--cluster-cidr=10.0.0.0/8,fd00::/8", "--masquerade-all",
                  "--nodeport-addresses=primary,127.0.0.0/8", "--healthz-bind-address=::", "--feature-gates=A=true",
                  "--hostname-override=foo-node", "--conntrack-min=0", "--iptables-localhost-nodeports=false")  # fmt: skip
    assert (found["mode"], config.cluster_ranges(found)) == ("nftables", ["10.0.0.0/8", "fd00::/8"])
    assert found["nftables"]["masqueradeAll"] and found["nodePortAddresses"] == ["primary", "127.0.0.0/8"]
    assert config.address_of(found["healthzBindAddress"]) == ("::", 10256)
    assert found["hostnameOverride"] == "foo-node" and found["conntrack"]["min"] == 0
    # With a file its word counts, but for the node's name.
    path = tmp_path / "config.conf"
    path.write_text(config.written(config.completed({"mode": "userspace", "hostnameOverride": "other"})))
    found = asked(f"--config={path}", "--proxy-mode=nftables", "--hostname-override=foo-node")
    assert (found["mode"], found["hostnameOverride"]) == ("userspace", "foo-node")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"mode": "ipvs"}, "mode: the mode ipvs is not there"),
        ({"mode": "magic"}, "mode: Invalid value: 'magic'"),
        ({"surprise": 1}, 'unknown field "surprise"'),
        ({"iptables": {"surprise": 1}}, 'unknown field "iptables.surprise"'),
        ({"iptables": {"masqueradeBit": 32}}, "iptables.masqueradeBit"),
        ({"nftables": {"minSyncPeriod": "soon"}}, "nftables.minSyncPeriod"),
        ({"clusterCIDR": "10.0.0.0/99"}, "clusterCIDR: Invalid value"),
        ({"nodePortAddresses": ["here"]}, "nodePortAddresses: Invalid value"),
        ({"detectLocalMode": "Guess"}, "detectLocalMode: Invalid value"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        config.completed(given)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.conf"
    path.write_text("kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n")
    with pytest.raises(ConfigurationError, match="KubeProxyConfiguration"):
        config.load(path)
    with pytest.raises(ConfigurationError, match="failed to load"):
        config.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"clusterCIDR": "10.0.0.0/8"}, LocalTraffic(ranges=("10.0.0.0/8",))),
        ({"detectLocalMode": "NodeCIDR"}, LocalTraffic(ranges=("10.244.1.0/24",))),
        (
            {"detectLocalMode": "BridgeInterface", "detectLocal": {"bridgeInterface": "cni0"}},
            LocalTraffic(interface="cni0"),
        ),
        (
            {"detectLocalMode": "InterfaceNamePrefix", "detectLocal": {"interfaceNamePrefix": "veth"}},
            LocalTraffic(interface="veth+"),
        ),
        ({}, LocalTraffic()),
    ],
)
def test_local_traffic(given: dict[str, Any], expected: LocalTraffic) -> None:
    assert local_traffic(config.completed(given), Node("here", pod_ranges=("10.244.1.0/24",))) == expected


# -- health ----------------------------------------------------------------------------------------------


def test_health() -> None:
    clock = ManualClock()
    health = Health(clock, 60)

    def page(path: str) -> tuple[int, dict[str, Any]]:
        found = health.page(Request(None, "GET", path, "", {}, b""))  # type: ignore[arg-type]
        return found.status, json.loads(found.body)

    assert page("/healthz")[0] == 503 and page("/livez")[0] == 200  # there is no Node yet
    health.node = {"metadata": {"name": "here"}}
    assert page("/healthz")[0] == 200
    health.queued()
    clock._elapsed += 61
    assert page("/livez")[0] == 503 and not page("/healthz")[1]["healthy"]
    health.updated()
    assert page("/healthz") == (200, {**page("/healthz")[1], "nodeEligible": True})
    health.node = {
        "metadata": {"name": "here"},
        "spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler"}]},
    }
    status, body = page("/healthz")
    assert status == 503 and body["healthy"] and not body["nodeEligible"]
    assert health.answers == {("healthz", 503): 3, ("livez", 200): 1, ("healthz", 200): 3, ("livez", 503): 1}


# -- picking targets -------------------------------------------------------------------------------------

ONE, TWO, THREE = (Target(f"10.0.0.{number}", 80) for number in (1, 2, 3))


def first(balancer: Balancer, client: str = "c") -> Target:
    target = balancer.choices(client)[0]
    balancer.chosen(client, target)
    return target


def test_round_robin() -> None:
    balancer = Balancer(ManualClock())
    assert balancer.choices("c") == []
    balancer.set((ONE, TWO, THREE), 0)
    assert [first(balancer) for _ in range(6)] == [ONE, TWO, THREE] * 2
    assert balancer.choices("c") == [ONE, TWO, THREE] and balancer.choices("c") == [TWO, THREE, ONE]
    balancer.set((TWO,), 0)
    assert [first(balancer) for _ in range(2)] == [TWO, TWO] and ONE not in balancer


def test_affinity() -> None:
    clock = ManualClock()
    balancer = Balancer(clock)
    balancer.set((ONE, TWO, THREE), 60)
    assert [first(balancer, "a") for _ in range(3)] == [ONE] * 3
    assert first(balancer, "b") == TWO
    balancer.set((TWO, THREE), 60)
    assert first(balancer, "b") == TWO
    held = first(balancer, "a")
    clock._elapsed += 50
    assert first(balancer, "a") == held  # each use counts anew
    clock._elapsed += 50
    assert first(balancer, "a") == held
    clock._elapsed += 61
    assert {first(balancer, f"d{number}") for number in range(2)} == {TWO, THREE}


# -- the kernel ------------------------------------------------------------------------------------------


def test_conntrack_entries() -> None:
    text = (
        "udp      17 29 src=10.244.1.2 dst=10.96.0.10 sport=40000 dport=53 [UNREPLIED] "
        "src=10.244.2.2 dst=10.244.1.2 sport=5353 dport=40000 mark=0 use=1\n"
        "unknown  2 599 src=0.0.0.0 dst=224.0.0.22 [UNREPLIED] src=224.0.0.22 dst=0.0.0.0 mark=0 use=1\n"
    )
    assert conntrack.parse(text) == [("10.96.0.10", 53, "10.244.2.2", 5353)]


def message(kind: int, body: bytes) -> bytes:
    length = 16 + len(body)
    return struct.pack("=IHHII", length, kind, 0, 0, 0) + body + b"\0" * (-length % 4)


def test_who_removed_rules() -> None:
    deleted, generation = 10 << 8 | 8, 10 << 8 | 15
    ours, others = (
        b"\2\0\0\0" + struct.pack("=HH", 4 + len(each), 2) + each for each in (b"KUBE-SVC-A\0", b"CNI-X\0")
    )
    by = (
        b"\0\0\0\0"
        + struct.pack("=HH", 8, 1)
        + b"\0\0\0\7"
        + struct.pack("=HH", 8, 2)
        + (4242).to_bytes(4, "big")
    )
    assert list(Reader().read(message(deleted, ours) + message(generation, by))) == [4242]
    assert list(Reader().read(message(deleted, others) + message(generation, by))) == []
    reader = Reader()
    assert list(reader.read(message(deleted, ours))) == []
    assert list(reader.read(message(generation, by) * 2)) == [4242]
    assert list(reader.read(b"\0" * 20)) == []
