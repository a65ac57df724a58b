"""The rules of a ServicePort in the mode nftables, as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pybernetes.node.proxy.nftables.rules import chain_name, rules
from tests.node.proxy.service_ports import SERVICE_PORT, SETTINGS, B

SVC, EXT, FW = (chain_name(prefix, SERVICE_PORT) for prefix in ("service", "external", "firewall"))


@pytest.mark.parametrize(
    ("changes", "chains", "elements"),
    [
        ({}, {SVC: ["meta l4proto tcp dnat ip addr . port to numgen random mod 2 map "
                      "{ 0 : 10.244.0.2 . 8080, 1 : 10.244.1.3 . 8080 }"]},
         {"service-ips": {"10.96.0.10 . tcp . 80": f"goto {SVC}"},
          "hairpin-connections": {"10.244.0.2 . 10.244.0.2 . tcp . 8080": ""}}),
        ({"cluster": (), "exists": False, "node_port": 30080}, {},
         {"no-endpoint-services": {"10.96.0.10 . tcp . 80": "goto reject-chain"},
          "no-endpoint-nodeports": {"tcp . 30080": "goto reject-chain"}}),
        ({"cluster": (B,), "local": (), "node_port": 30080, "external_local": True},
         {SVC: ["meta l4proto tcp dnat to 10.244.1.3:8080"],
          EXT: [f"ip saddr 10.244.0.0/16 goto {SVC}", "fib saddr type local mark set mark or 0x00004000",
                  f"fib saddr type local goto {SVC}"]},
         {"service-ips": {"10.96.0.10 . tcp . 80": f"goto {SVC}"}, "service-nodeports": {"tcp . 30080": f"goto {EXT}"},
          "no-endpoint-nodeports": {"tcp . 30080": "drop"}}),
        ({"cluster": (B,), "load_balancer_ips": ("198.51.100.7",), "source_ranges": ("172.30.0.0/24",)},
         {SVC: ["meta l4proto tcp dnat to 10.244.1.3:8080"],
          EXT: ["mark set mark or 0x00004000", f"goto {SVC}"],
          FW: ["ip saddr != { 172.30.0.0/24, 198.51.100.7/32 } drop"]},
         {"service-ips": {"10.96.0.10 . tcp . 80": f"goto {SVC}", "198.51.100.7 . tcp . 80": f"goto {EXT}"},
          "firewall-ips": {"198.51.100.7 . tcp . 80": f"goto {FW}"}}),
    ],
)  # fmt: skip
def test_rules(
    changes: dict[str, Any], chains: dict[str, list[str]], elements: dict[str, dict[str, str]]
) -> None:
    port_rules = rules(replace(SERVICE_PORT, **changes), SETTINGS)
    assert {name: list(lines) for name, lines in port_rules.chains.items()} == chains
    assert port_rules.elements == {"cluster-ips": {"10.96.0.10": ""}, **elements}


def test_affinity() -> None:
    port_rules = rules(replace(SERVICE_PORT, cluster=(B,), affinity_seconds=60), SETTINGS)
    (clients,) = port_rules.sets
    endpoint = chain_name("endpoint", SERVICE_PORT, B)
    assert port_rules.sets[clients] == "type ipv4_addr ; flags dynamic,timeout ; timeout 60s ;"
    assert port_rules.chains[SVC] == (
        f"ip saddr @{clients} goto {endpoint}", f"numgen random mod 1 vmap {{ 0 : goto {endpoint} }}",
    )  # fmt: skip
    assert port_rules.chains[endpoint] == (
        f"update @{clients} {{ ip saddr }}",
        "meta l4proto tcp dnat to 10.244.1.3:8080",
    )
