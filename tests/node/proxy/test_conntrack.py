"""Connections that the kernel remembers, and which of them are stale."""

from __future__ import annotations

from pybernetes.node.proxy.conntrack import Connection, parse, stale_connections
from pybernetes.node.proxy.service_port import ServicePort


def test_parse() -> None:
    text = (
        "udp      17 29 src=10.244.1.2 dst=10.96.0.10 sport=40000 dport=53 [UNREPLIED] "
        "src=10.244.2.2 dst=10.244.1.2 sport=5353 dport=40000 mark=0 use=1\n"
        "sctp     132 2 CLOSED src=10.244.1.2 dst=10.96.0.10 sport=9 dport=90 src=10.244.2.2 dst=10.244.1.2 sport=91 dport=9 mark=0\n"
        "unknown  2 599 src=0.0.0.0 dst=224.0.0.22 [UNREPLIED] src=224.0.0.22 dst=0.0.0.0 mark=0 use=1\n"
    )
    assert parse(text) == [
        ("udp", "10.96.0.10", 53, "10.244.2.2", 5353),
        ("sctp", "10.96.0.10", 90, "10.244.2.2", 91),
    ]


def test_stale_connections() -> None:
    dns = ServicePort("kube-system/dns", "dns", "udp", 4, "10.96.0.10", 53, node_port=30053,
                 external_ips=("192.0.2.1",), serving=frozenset({("10.0.0.1", 53)}))  # fmt: skip
    empty = ServicePort("default/empty", "", "udp", 4, "10.96.0.11", 53, node_port=30054)
    tcp = ServicePort("default/tcp", "", "tcp", 4, "10.96.0.12", 53)
    signals = ServicePort(
        "default/signals", "", "sctp", 4, "10.96.0.10", 53, serving=frozenset({("10.0.0.3", 53)})
    )
    kept = [("udp", "10.96.0.10", 53, "10.0.0.1", 53), ("udp", "172.30.0.2", 30053, "10.0.0.1", 53),
            ("udp", "9.9.9.9", 53, "9.9.9.9", 53), ("udp", "9.9.9.9", 30054, "9.9.9.9", 30054),
            ("tcp", "10.96.0.12", 53, "10.0.0.9", 53), ("sctp", "10.96.0.10", 53, "10.0.0.3", 53),
            ("sctp", "172.30.0.2", 30053, "10.0.0.2", 53)]  # fmt: skip
    stale = [("udp", "10.96.0.10", 53, "10.0.0.2", 53), ("udp", "192.0.2.1", 53, "10.0.0.2", 53),
             ("udp", "172.30.0.2", 30053, "10.0.0.2", 53), ("udp", "172.30.0.2", 30053, "172.30.0.2", 30053),
             ("udp", "172.30.0.2", 30054, "10.0.0.9", 53), ("udp", "10.96.0.11", 53, "10.96.0.11", 53),
             ("sctp", "10.96.0.10", 53, "10.0.0.1", 53)]  # fmt: skip
    connections = [Connection(*connection) for connection in (*kept, *stale)]
    assert list(stale_connections(connections, [dns, empty, tcp, signals])) == stale
