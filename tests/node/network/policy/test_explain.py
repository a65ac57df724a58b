"""Which rule lets a connection pass or not."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.network.policy.explain import Cluster, explain

Object = dict[str, Any]


def pod(name: str, address: str, **spec: Any) -> Object:
    namespace, _, own = name.partition("/")
    return {
        "metadata": {"namespace": namespace, "name": own, "labels": {"app": own}},
        "spec": {"nodeName": "n1", "containers": [], **spec},
        "status": {"podIPs": [{"ip": address}] if address else []},
    }


PODS = [
    pod("shop/web", "10.0.0.1"),
    pod("shop/db", "10.0.0.2"),
    pod("shop/six", "fd00::3"),
    pod("shop/host", "172.18.0.2", hostNetwork=True),
    pod("shop/none", ""),
]
POLICIES = [
    {
        "metadata": {"namespace": "shop", "name": "db"},
        "spec": {
            "podSelector": {"matchLabels": {"app": "db"}},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"from": [{"podSelector": {"matchLabels": {"app": "web"}}}], "ports": [{"port": 5432}]},
                {"from": [{"ipBlock": {"cidr": "198.51.100.0/24"}}]},
            ],
        },
    }
]
WIDE = [
    {
        "metadata": {"name": "no-telnet"},
        "spec": {
            "tier": "Admin",
            "priority": 1,
            "subject": {"namespaces": {}},
            "egress": [
                {
                    "action": "Deny",
                    "name": "telnet",
                    "to": [{"networks": ["0.0.0.0/0"]}],
                    "protocols": [{"tcp": {"destinationPort": {"number": 23}}}],
                }
            ],
        },
    }
]
CLUSTER = Cluster(PODS, [{"metadata": {"name": "shop"}}], POLICIES, WIDE)


@pytest.mark.parametrize(
    ("source", "destination", "port", "allowed", "reason"),
    [
        ("shop/web", "shop/db", "5432", True, "NetworkPolicy shop/db ingress[0]"),
        ("web", "db", "5433", False, "no rule of NetworkPolicy shop/db allows it"),
        ("10.0.0.1", "10.0.0.2", "5432/udp", False, "no rule of NetworkPolicy shop/db allows it"),
        ("198.51.100.7", "db", "1/sctp", True, "NetworkPolicy shop/db ingress[1]"),
        ("external", "db", "5432", False, "no rule of"),
        ("web", "external", "443", True, "no policy decides"),
        ("web", "external", "23", False, "ClusterNetworkPolicy no-telnet egress[0] telnet"),
        ("host", "db", "80", True, "own node"),
        ("external", "host", "80", True, "on its node's network"),
        ("db", "db", "80", True, "itself"),
        ("six", "external", "80", True, "no policy"),
    ],
)
def test_answers(source: str, destination: str, port: str, allowed: bool, reason: str) -> None:
    answer = explain(CLUSTER, source, destination, port, "shop")
    assert answer.allowed is allowed and reason in "\n".join(answer.lines), answer


@pytest.mark.parametrize(
    ("source", "destination", "port", "message"),
    [
        ("web", "nobody", "80", "there is no pod shop/nobody"),
        ("web", "none", "80", "has no address"),
        ("web", "six", "80", "no addresses of one family"),
        ("external", "203.0.113.1", "80", "neither end is a pod"),
        ("web", "db", "http", "is no port"),
        ("web", "db", "0", "is no port"),
        ("web", "db", "80/icmp", "is no port"),
    ],
)
def test_what_cannot_be_asked(source: str, destination: str, port: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explain(CLUSTER, source, destination, port, "shop")
