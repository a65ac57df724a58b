"""Load balancers of the host for real: two nodes in namespaces, and connections of the machine between them."""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pybernetes.control_plane.cloud.local.machine import Balancer
from pybernetes.tools.local.network import balancer_rules, host_balancers
from pybernetes.tools.local.network.host_balancers import HostBalancers
from pybernetes.tools.local.nodes import draining
from tests.node.proxy.namespaces import command
from tests.support import end, require_program, require_root, until
from tests.tools.local.host import host

RANGE, ADDRESS = "172.30.9.0/24", "172.30.9.200"
BALANCER = Balancer("uid-1", ADDRESS, (("TCP", 80), ("UDP", 53)), ("172.30.9.2", "172.30.9.3"))
# Stands in for kube-proxy and a pod: answers at the balancer's address with its own name and the caller's address.
SERVE = """
import socket, sys, threading
listener = socket.create_server(("172.30.9.200", 80))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("172.30.9.200", 53))

def udp():
    while True:
        data, caller = datagrams.recvfrom(99)
        datagrams.sendto(sys.argv[1].encode(), caller)

threading.Thread(target=udp, daemon=True).start()
print("ready", flush=True)

def talk(connection, caller):
    while data := connection.recv(99):
        connection.sendall(f"{sys.argv[1]} {caller[0]}".encode())

while True:
    threading.Thread(target=talk, args=listener.accept(), daemon=True).start()
"""


@pytest.mark.parametrize(
    "change",
    [
        {"address": "172.30.9.199"}, {"address": "8.8.8.8"}, {"address": 7}, {"owner": "a b"}, {"owner": 1},
        {"ports": [["TCP", 0]]}, {"ports": [["TCP", "80"]]}, {"ports": [["ICMP", 80]]}, {"ports": [["TCP", True]]},
        {"nodes": ["172.30.9.1"]}, {"nodes": ["172.30.9.200"]}, {"nodes": ["10.0.0.1"]}, {"nodes": ["x } drop"]},
        {"source_ranges": ["10.0.0.0/8 } accept"]}, {"source_ranges": ["fd00::/8"]},
        {"affinity_seconds": -1}, {"affinity_seconds": "3h"}, {"affinity_seconds": 86401},
    ],
)  # fmt: skip
def test_what_is_no_balancer_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        host_balancers.read({**asdict(BALANCER), **change}, RANGE)
    assert host_balancers.read(asdict(BALANCER), RANGE) == BALANCER


V6 = Balancer("uid-1", "fd01::c8", (("TCP", 80),), ("fd01::2", "fd01::3"), ("fd02::/64",))


@pytest.mark.parametrize(
    "change",
    [
        {"address": "fd01::c7"}, {"address": "fd02::c8"}, {"address": ADDRESS}, {"nodes": ["172.30.9.2"]},
        {"nodes": ["fd01::1"]}, {"nodes": ["fd01::c8"]}, {"nodes": ["fd01:0:0:1::2"]}, {"nodes": ["fd01::2%eth0"]}, {"source_ranges": ["fd02::%a } accept/64"]},
        {"source_ranges": ["10.0.0.0/8"]},
    ],
)  # fmt: skip
def test_families_are_not_mixed(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        host_balancers.read({**asdict(V6), **change}, RANGE, "fd01::/64")
    assert host_balancers.read(asdict(V6), RANGE, "fd01::/64") == V6
    with pytest.raises(ValueError):
        host_balancers.read(asdict(V6), RANGE)  # a cluster without IPv6


def test_who_is_behind_balancers() -> None:
    assert draining.balanced_addresses("") == draining.balanced_addresses("[{") == set()
    assert draining.balanced_addresses('[{"nodes": ["a", "b"]}, {"nodes": ["b"]}]') == {"a", "b"}


@pytest.fixture
def bridge() -> Iterator[str]:
    """Yield a bridge of a machine of its own, with two nodes on it."""
    require_root()
    require_program("conntrack")
    with host("balancers"), contextlib.ExitStack() as stack:
        name = "pybtest0"
        command("ip", "link", "add", name, "type", "bridge")
        stack.callback(command, "ip", "link", "delete", name)
        command("ip", "link", "set", name, "address", "0a:70:00:00:00:01", "up")
        command("ip", "address", "add", "172.30.9.1/24", "dev", name)
        for number in (2, 3):
            node, address = f"balancers-{number}", f"172.30.9.{number}"
            command("ip", "netns", "add", node)
            stack.callback(command, "ip", "netns", "delete", node)
            command(
                "ip", "link", "add", f"vtest{number}", "type", "veth", "peer", "name", "eth0", "netns", node
            )
            command("ip", "link", "set", f"vtest{number}", "master", name, "up")
            command(
                "ip",
                "-netns",
                node,
                "link",
                "set",
                "eth0",
                "address",
                balancer_rules.link_address(address),
                "up",
            )
            command("ip", "-netns", node, "link", "set", "lo", "up")
            command("ip", "-netns", node, "address", "add", f"{address}/24", "dev", "eth0")
            command("ip", "-netns", node, "address", "add", f"{ADDRESS}/32", "dev", "lo")
            process = subprocess.Popen(
                ["ip", "netns", "exec", node, sys.executable, "-c", SERVE, str(number)], stdout=subprocess.PIPE
            )  # fmt: skip
            stack.callback(end, process)
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        yield name


def connect(source: str = "") -> socket.socket:
    return socket.create_connection((ADDRESS, 80), timeout=20, source_address=(source, 0) if source else None)


def say(connection: socket.socket) -> tuple[str, str]:
    connection.sendall(b"hello")
    node, caller = connection.recv(99).decode().split()
    return node, caller


def ask() -> str:
    with connect() as connection:
        return say(connection)[0]


def ask_by_datagram(client: socket.socket) -> str:
    client.sendto(b"hello", (ADDRESS, 53))
    return client.recv(99).decode()


def test_connections_are_spread_kept_and_moved(bridge: str, tmp_path: Path) -> None:
    before = command("nft", "list", "ruleset")
    balancers = HostBalancers(bridge, RANGE, tmp_path / "balancers.json")
    balancers.change(asdict(BALANCER))
    assert {ask() for _ in range(4)} == {"2", "3"}
    with connect() as kept, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(20)
        stays, caller = say(kept)
        assert caller == "172.30.9.1"  # nodes see who calls
        other = "3" if stays == "2" else "2"
        # The node of a connection goes out of the balancer: new connections go elsewhere, this one stays.
        assert ask_by_datagram(client) in "23"
        left = replace(BALANCER, nodes=(f"172.30.9.{other}",))
        balancers.change(asdict(left))
        assert {ask() for _ in range(4)} == {other} and say(kept)[0] == stays
        assert host_balancers.connections(f"172.30.9.{stays}") == 1
        until(lambda: ask_by_datagram(client) == other)  # what has no connections goes elsewhere at once
        # Another process takes over what there is, and nothing breaks.
        balancers = HostBalancers(bridge, RANGE, tmp_path / "balancers.json")
        assert [entry["address"] for entry in balancers.all()] == [ADDRESS]
        balancers.restore()
        assert say(kept)[0] == stays and ask() == other
    # Clients with affinity stay with their node while it is there.
    balancers.change(asdict(replace(BALANCER, affinity_seconds=60)))
    (same,) = {ask() for _ in range(4)}
    balancers.change(asdict(replace(BALANCER, affinity_seconds=60, nodes=(f"172.30.9.{same}",))))
    assert ask() == same
    elsewhere = "3" if same == "2" else "2"
    balancers.change(asdict(replace(BALANCER, affinity_seconds=60, nodes=(f"172.30.9.{elsewhere}",))))
    assert ask() == elsewhere
    # Without a node connections are refused at once; so they are on other ports, and by those who may not.
    balancers.change(asdict(replace(BALANCER, nodes=())))
    with pytest.raises(ConnectionRefusedError):
        connect()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((ADDRESS, 81), timeout=20)
    balancers.change(asdict(replace(BALANCER, source_ranges=("10.0.0.0/8",))))
    with pytest.raises(TimeoutError), socket.socket() as client:
        client.settimeout(0.3)
        client.connect((ADDRESS, 80))
    balancers.change(asdict(replace(BALANCER, source_ranges=("172.30.9.0/24",))))
    assert ask() in "23"
    # It goes without a trace.
    balancers.remove(ADDRESS)
    balancers.remove(ADDRESS)
    host_balancers.remove_rules(bridge)
    host_balancers.remove_rules(bridge)
    assert command("nft", "list", "ruleset") == before and "0a:70:00" not in command("ip", "neighbour")


def test_what_comes_before_kube_proxys_rules_waits_for_them(bridge: str, tmp_path: Path) -> None:
    balancers = HostBalancers(bridge, RANGE, tmp_path / "balancers.json")
    balancers.change(asdict(replace(BALANCER, nodes=("172.30.9.2",))))
    node = "balancers-2"
    script = balancer_rules.waiting_rules([RANGE, "fd01::/64"])
    for _ in "again", "again":  # a node that starts once more has them already
        subprocess.run(["ip", "netns", "exec", node, "nft", "-f", "-"], input=script, text=True, check=True)
    command("ip", "netns", "exec", node, "sysctl", "-qw", "net.ipv4.ip_forward=1")
    command("ip", "-netns", node, "address", "delete", f"{ADDRESS}/32", "dev", "lo")

    def held() -> int:
        text = command("ip", "netns", "exec", node, "nft", "list", "table", "ip", "pybernetes-balancers")
        return int(text.partition("counter packets ")[2].split()[0])

    with socket.socket() as client:
        client.setblocking(False)
        assert client.connect_ex((ADDRESS, 80)) == errno.EINPROGRESS
        until(lambda: held() > 0)
        assert not command("ip", "-netns", node, "neighbour", "show", ADDRESS)  # nor was anybody looked for
        command("ip", "-netns", node, "address", "add", f"{ADDRESS}/32", "dev", "lo")
        client.settimeout(60)  # it is sent again, later and later
        select.select([], [client], [], 60)
        assert client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0 and say(client)[0] == "2"
    balancers.remove(ADDRESS)
    host_balancers.remove_rules(bridge)


def test_a_command_that_does_not_end_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*args: object, **kwargs: object) -> object:
        raise subprocess.TimeoutExpired("nft", 10)

    monkeypatch.setattr(subprocess, "run", run)
    balancers = HostBalancers("b", "10.9.8.0/24", tmp_path / "state")
    asked = {
        "owner": "o", "address": "10.9.8.200", "ports": [["TCP", 80]], "nodes": ["10.9.8.2"], "source_ranges": [],
        "affinity_seconds": 0,
    }  # fmt: skip
    with pytest.raises(OSError, match="did not end"):
        balancers.change(asked)
    assert balancers.all() == []
