"""What a ServicePort asks of the kernel in the mode ipvs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pybernetes.node.proxy.ipvs import sets
from pybernetes.node.proxy.ipvs.sets import Entry
from pybernetes.node.proxy.ipvs.virtual_servers import (
    HASH_PORT,
    PERSISTENT,
    Address,
    RealServer,
    VirtualServer,
    Wanted,
    virtual_server,
    wanted,
)
from tests.node.proxy.service_ports import SERVICE_PORT, A, B

REAL_A, REAL_B = RealServer(A.ip, A.port), RealServer(B.ip, B.port)
NODE = "172.30.0.2"


def ask(own: frozenset[str] = frozenset({NODE}), **changes: Any) -> Wanted:
    return wanted(replace(SERVICE_PORT, **changes), "rr", [NODE], own, NODE)


def texts(asked: Wanted, of: str) -> list[str]:
    return [entry.text for entry in asked.entries if entry.set == of]


def test_a_cluster_ip_is_bound_and_balanced() -> None:
    asked = ask()
    assert asked.servers == {Address("tcp", "10.96.0.10", 80): (VirtualServer("rr"), (REAL_A, REAL_B))}
    assert asked.bound == ("10.96.0.10",)
    assert set(asked.entries) == {
        Entry(sets.CLUSTER_IP, "10.96.0.10,tcp:80"),
        Entry(sets.LOOP_BACK, f"{A.ip},tcp:8080,{A.ip}"),
        Entry(sets.BOUND, "10.96.0.10"),
    }


@pytest.mark.parametrize(
    ("scheduler", "affinity", "expected"),
    [
        ("rr", 0, VirtualServer("rr", 0, 0)),
        ("sed", 60, VirtualServer("sed", PERSISTENT, 60)),
        ("mh", 0, VirtualServer("mh", HASH_PORT, 0)),
        ("mh", 9, VirtualServer("mh", HASH_PORT | PERSISTENT, 9)),
    ],
)
def test_how_a_server_picks(scheduler: str, affinity: int, expected: VirtualServer) -> None:
    assert virtual_server(replace(SERVICE_PORT, affinity_seconds=affinity), scheduler) == expected


def test_every_way_in_is_a_server() -> None:
    asked = ask(node_port=30080, external_ips=("192.0.2.7",), load_balancer_ips=("198.51.100.7",))
    outside = {"192.0.2.7,tcp:80", "198.51.100.7,tcp:80", f"{NODE},tcp:30080"}
    assert {str(address) for address in asked.servers} == {
        "tcp 10.96.0.10:80", "tcp 192.0.2.7:80", "tcp 198.51.100.7:80", f"tcp {NODE}:30080",
    }  # fmt: skip
    assert set(texts(asked, sets.EXTERNAL_IP)) == outside and not texts(asked, sets.EXTERNAL_IP_LOCAL)
    assert asked.bound == ("10.96.0.10", "192.0.2.7", "198.51.100.7")


def test_an_address_that_another_link_has_is_not_bound() -> None:
    assert ask(frozenset({NODE, "192.0.2.7"}), external_ips=("192.0.2.7",)).bound == ("10.96.0.10",)


@pytest.mark.parametrize(
    ("local", "real", "dropped"), [((A,), (REAL_A,), []), ((), (REAL_A, REAL_B), [f"{NODE},tcp:30080"])]
)
def test_the_policy_local(local: tuple[Any, ...], real: tuple[RealServer, ...], dropped: list[str]) -> None:
    asked = ask(node_port=30080, external_local=True, local=local)
    assert asked.servers[Address("tcp", NODE, 30080)][1] == real
    assert asked.servers[Address("tcp", "10.96.0.10", 80)][1] == (REAL_A, REAL_B)
    assert texts(asked, sets.EXTERNAL_IP_LOCAL) == [f"{NODE},tcp:30080"]
    assert texts(asked, sets.NO_LOCAL) == dropped


def test_internal_traffic_that_stays_here() -> None:
    here = ask(internal_local=True, cluster=(), local=(A,))
    assert here.servers[Address("tcp", "10.96.0.10", 80)][1] == (REAL_A,)
    nowhere = ask(internal_local=True, node_port=30080)
    assert nowhere.servers[Address("tcp", "10.96.0.10", 80)][1] == ()


@pytest.mark.parametrize(
    ("ranges", "sources"),
    [
        ((), []),
        (("203.0.113.0/24",), ["198.51.100.7,tcp:80,203.0.113.0/24"]),
        (("172.30.0.0/16", "203.0.113.5/32"), ["198.51.100.7,tcp:80,172.30.0.0/16", "198.51.100.7,tcp:80,203.0.113.5", "198.51.100.7,tcp:80,198.51.100.7"]),
    ],
)  # fmt: skip
def test_source_ranges(ranges: tuple[str, ...], sources: list[str]) -> None:
    asked = ask(load_balancer_ips=("198.51.100.7",), source_ranges=ranges)
    assert texts(asked, sets.SOURCES) == sources
    assert texts(asked, sets.FIREWALL) == (["198.51.100.7,tcp:80"] if ranges else [])


def test_health_check_ports() -> None:
    assert texts(ask(health_check_port=31000), sets.HEALTH_CHECK) == ["31000"]
