"""The rules of a ServicePort in the mode iptables, as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pybernetes.node.proxy.iptables.chains import chain_name
from pybernetes.node.proxy.iptables.rules import rules
from pybernetes.node.proxy.local_traffic import LocalTraffic
from tests.node.proxy.service_ports import SERVICE_PORT, SETTINGS, A, B

SVC, SVL, EXT, FW = (chain_name(prefix, "default/web:http", "tcp") for prefix in ("SVC", "SVL", "EXT", "FW"))
_TO_A, _TO_B = (f"-p tcp -m tcp -j DNAT --to-destination {target}" for target in (A, B))
_HALF = "-p tcp -m tcp -m statistic --mode random --probability 0.5000000000 -j DNAT --to-destination 10.244.0.2:8080"
_NOT_LOCAL = (
    '! -s 10.244.0.0/16 -d 10.96.0.10 -p tcp -m tcp --dport 80 -m comment --comment "default/web:http cluster IP" '
    "-j KUBE-MARK-MASQ"
)


def _to(address: str, comment: str, target: str) -> str:
    return (
        f'-d {address} -p tcp -m comment --comment "default/web:http {comment}" -m tcp --dport 80 -j {target}'
    )


@pytest.mark.parametrize(
    ("changes", "own", "shared", "hairpins"),
    [
        ({}, {SVC: [_NOT_LOCAL, _HALF, _TO_B]}, {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC)]}, [A.ip]),
        ({"cluster": (), "exists": False}, {},
         {"KUBE-SERVICES filter": [_to("10.96.0.10", "has no endpoints", "REJECT")]}, []),
        ({"cluster": (), "internal_local": True}, {},
         {"KUBE-SERVICES filter": [_to("10.96.0.10", "has no local endpoints", "DROP")]}, []),
        ({"cluster": (B,), "affinity_seconds": 60},
         {SVC: [_NOT_LOCAL, "-m recent --name {B} --rcheck --seconds 60 --reap -j {B}", "-j {B}"],
          "{B}": ["-p tcp -m recent --name {B} --set -m tcp -j DNAT --to-destination 10.244.1.3:8080"]},
         {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC)]}, []),
        ({"cluster": (B,), "node_port": 30080, "external_ips": ("192.0.2.1",)},
         {SVC: [_NOT_LOCAL, _TO_B],
          EXT: ['-m comment --comment "masquerade traffic for default/web:http external destinations" -j KUBE-MARK-MASQ',
                f"-j {SVC}"]},
         {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC), _to("192.0.2.1", "external IP", EXT)],
          "KUBE-NODEPORTS nat": [f'-p tcp -m comment --comment "default/web:http" -m tcp --dport 30080 -j {EXT}']}, []),
        ({"cluster": (B,), "load_balancer_ips": ("198.51.100.7",), "source_ranges": ("172.30.0.0/24",),
          "external_local": True, "health_check_port": 31000},
         {SVC: [_NOT_LOCAL, _TO_B],
          EXT: ['-s 10.244.0.0/16 -m comment --comment "pod traffic for default/web:http external destinations" '
                f"-j {SVC}",
                '-m comment --comment "masquerade LOCAL traffic for default/web:http external destinations" '
                "-m addrtype --src-type LOCAL -j KUBE-MARK-MASQ",
                '-m comment --comment "route LOCAL traffic for default/web:http external destinations" '
                f"-m addrtype --src-type LOCAL -j {SVC}"],
          FW: [f'-s 172.30.0.0/24 -m comment --comment "default/web:http loadbalancer IP" -j {EXT}',
               f'-s 198.51.100.7 -m comment --comment "default/web:http loadbalancer IP" -j {EXT}']},
         {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC), _to("198.51.100.7", "loadbalancer IP", FW)],
          "KUBE-EXTERNAL-SERVICES filter": [_to("198.51.100.7", "has no local endpoints", "DROP")],
          "KUBE-PROXY-FIREWALL filter": [_to("198.51.100.7", f"traffic not accepted by {FW}", "DROP")],
          "KUBE-NODEPORTS filter": ['-p tcp -m comment --comment "default/web:http health check node port" '
                                    "-m tcp --dport 31000 -j ACCEPT"]}, []),
    ],
)  # fmt: skip
def test_rules(
    changes: dict[str, Any], own: dict[str, list[str]], shared: dict[str, list[str]], hairpins: list[str]
) -> None:
    port_rules = rules(replace(SERVICE_PORT, **changes), SETTINGS)
    name = chain_name("SEP", "default/web:http", "tcp", str(B))
    expected = {
        chain.replace("{B}", name): tuple(line.replace("{B}", name) for line in lines)
        for chain, lines in own.items()
    }
    assert port_rules.own == expected
    assert {f"{chain} {table}": list(lines) for (table, chain), lines in port_rules.shared.items()} == shared
    assert list(port_rules.hairpins) == hairpins


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"masquerade_all": True}, _NOT_LOCAL.removeprefix("! -s 10.244.0.0/16 ")),
        ({"local": LocalTraffic(interface="cni0")}, _NOT_LOCAL.replace("! -s 10.244.0.0/16", "! -i cni0")),
        ({"local": LocalTraffic(interface="veth+")}, _NOT_LOCAL.replace("! -s 10.244.0.0/16", "! -i veth+")),
        ({"local": LocalTraffic()}, _HALF),
    ],
)
def test_masquerading(changes: dict[str, Any], first: str) -> None:
    assert rules(SERVICE_PORT, replace(SETTINGS, **changes)).own[SVC][0] == first
