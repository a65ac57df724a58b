"""Three nodes as three network namespaces on a bridge: what the agent does to their kernels, for real."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.client import kubeconfig as config
from pybernetes.client.refs import NODES
from pybernetes.node.network.plan import DEVICE, Configuration
from pybernetes.node.network.pod_network import PodNetwork
from pybernetes.tools.local.network import network
from tests.cluster import Cluster
from tests.node.proxy.namespaces import inside as entered
from tests.support import eventually, require_program, require_root

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
MARK = f"{os.getpid() % 100000}"
NAMES = [f"pybt{MARK}-{number}" for number in (1, 2, 3)]
RANGES = ("10.123.0.0/16", "fd12:3::/32")


def sh(*command: str, code: int | None = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert code is None or done.returncode == code, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def inside(number: int, *command: str, code: int | None = 0) -> str:
    return sh("ip", "netns", "exec", NAMES[number - 1], *command, code=code)


def reaches(source: int, target: int) -> bool:
    """Return whether pods of one node reach those of another, with both families."""
    for address, own, family in (
        (f"10.123.{target}.1", f"10.123.{source}.1", "-4"),
        (f"fd12:3:{target}::1", f"fd12:3:{source}::1", "-6"),
    ):
        command = ["ip", "netns", "exec", NAMES[source - 1], "busybox", "ping", family, "-c1", "-W1"]
        if subprocess.run([*command, "-I", own, address], capture_output=True).returncode:
            return False
    return True


@pytest.fixture
def nodes() -> Iterator[str]:
    """Yield three namespaces; gives the range of their addresses, of which no link of this machine has any."""
    require_root()
    for program in ("ip", "busybox", "iptables"):
        require_program(program)
    bridge, node_range = f"pybt{MARK}", network.free_range(NAMES[0])
    try:
        sh("ip", "link", "add", bridge, "type", "bridge")
        sh("ip", "address", "add", f"{network.gateway(node_range)}/24", "dev", bridge)
        sh("ip", "link", "set", bridge, "up")
        for number, name in enumerate(NAMES, 1):
            link = f"pybt{MARK}{number}"
            sh("ip", "netns", "add", name)
            sh("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            sh("ip", "link", "set", link, "master", bridge, "up")
            for command in (
                "link set lo up", f"address add {address(node_range, number)}/24 dev eth0",
                f"address add 2001:db8::{number}/64 nodad dev eth0", "link set eth0 up",
                # What would be a pod's address, were there pods.
                f"address add 10.123.{number}.1/32 dev lo", f"address add fd12:3:{number}::1/128 dev lo",
            ):  # fmt: skip
                inside(number, "ip", *command.split())
        yield node_range
    finally:
        for number, name in enumerate(NAMES, 1):
            sh("ip", "link", "delete", f"pybt{MARK}{number}", code=None)  # a namespace takes its time to go
            sh("ip", "netns", "delete", name, code=None)
        sh("ip", "link", "delete", bridge, code=None)


def enter(name: str) -> None:
    """Take this thread, and all that it starts, into a network namespace."""
    with open(f"/run/netns/{name}") as target:
        assert ctypes.CDLL(None).setns(target.fileno(), 0x40000000) == 0


def address(node_range: str, number: int) -> str:
    return network.address(node_range, number - 1)


class Running:
    """The agent of a node on a thread of its own, which is in the node's namespace."""

    def __init__(self, number: int, kubeconfig: Path, configuration: Configuration) -> None:
        self.number, self.kubeconfig, self.configuration = number, kubeconfig, configuration
        self.agent: PodNetwork | None = None
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self) -> None:
        enter(NAMES[self.number - 1])
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._run())

    async def _run(self) -> None:
        client = config.load(str(self.kubeconfig)).client(user_agent="test")
        self.loop, self.task = asyncio.get_running_loop(), asyncio.current_task()
        self.agent = PodNetwork(client, f"node{self.number}", self.configuration)
        try:
            await self.agent.run()
        finally:
            await client.close()

    async def stop(self) -> None:
        await eventually(lambda: self.agent)
        assert self.task is not None
        self.loop.call_soon_threadsafe(self.task.cancel)
        await asyncio.to_thread(self.thread.join)


async def make_node(cluster: Cluster, node_range: str, number: int) -> None:
    name = f"node{number}"
    ranges = [f"10.123.{number}.0/24", f"fd12:3:{number}::/64"]
    await cluster.client.create(
        NODES, {"metadata": {"name": name}, "spec": {"podCIDR": ranges[0], "podCIDRs": ranges}}
    )
    addresses = [
        {"type": "InternalIP", "address": node_address}
        for node_address in (address(node_range, number), f"2001:db8::{number}")
    ]
    await cluster.client.patch(NODES, name, {"status": {"addresses": addresses}}, subresource="status")


async def meet(*pairs: tuple[int, int], wanted: bool = True) -> None:
    """Wait until nodes reach each other, or do not."""
    for source, target in pairs:

        async def so(source: int = source, target: int = target) -> bool:
            return await asyncio.to_thread(reaches, source, target) is wanted

        await eventually(so, 60)


@pytest.mark.parametrize("backend", ["vxlan", "host-gw"])
async def test_nodes_are_joined_and_join_again(nodes: str, tmp_path: Path, backend: str) -> None:
    configuration = Configuration(backend, cluster_cidrs=RANGES, cni_folder=tmp_path / "cni")
    async with Cluster("--bind-address=0.0.0.0") as cluster:
        text = cluster.kubeconfig().read_text()
        path = tmp_path / "kubeconfig"
        path.write_text(text.replace(f"server: '{cluster.url}'", f"server: 'https://{network.gateway(nodes)}:{cluster.port}', "
                                     "tls-server-name: localhost"))  # fmt: skip
        agents = [Running(number, path, configuration) for number in (1, 2, 3)]
        try:
            await eventually(lambda: all(agent.agent for agent in agents))
            assert not any(agent.agent and agent.agent.joined.is_set() for agent in agents)
            for number in (1, 2, 3):
                await make_node(cluster, nodes, number)
            await meet((1, 2), (2, 3), (3, 1))
            assert all(agent.agent and agent.agent.joined.is_set() for agent in agents)
            await eventually(
                lambda: "PYB-MASQUERADE" in inside(1, "iptables-save") and (tmp_path / "cni").is_dir(), 60
            )
            # Nothing for pods leaves by the default route, whether or not anybody has the address.
            for family, nobody in (("-4", "10.123.77.1"), ("-6", "fd12:3:77::1")):
                inside(1, "ip", family, "route", "get", nobody, code=2)
            await _pods_do_not_speak_as_others(nodes, backend)
            await _break_and_heal(nodes, backend)
            # A node that goes takes its routes with it; the others stay joined.
            await cluster.client.delete(NODES, "node3")
            await eventually(lambda: "10.123.3.0/24" not in inside(1, "ip", "route"), 60)
            await meet((1, 2))
            gone = address(nodes, 3)
            await eventually(lambda: gone not in inside(1, "ip", "route") + inside(1, "bridge", "fdb"))
        finally:
            for agent in agents:
                await agent.stop()
        # Without the agent the network stays.
        await meet((1, 2))


async def _pods_do_not_speak_as_others(node_range: str, backend: str) -> None:
    """Nobody sends with another's address. Whoever sends to the overlay's port chooses that of the packets inside: nodes alone get there."""
    pod, link = f"pybt{MARK}-pod", f"veth{MARK}"
    sh("ip", "netns", "add", pod)
    try:
        inside(1, "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", pod)
        inside(1, "ip", "address", "add", "10.123.1.254/32", "dev", link)
        inside(1, "ip", "link", "set", link, "up")
        inside(1, "ip", "route", "add", "10.123.1.9", "dev", link)
        for command in (
            "address add 10.123.1.9/32 dev eth0", "address add 10.123.1.10/32 dev eth0", "address add 10.123.2.9/32 dev eth0",
            "link set eth0 up", "route add 10.123.1.254 dev eth0",
            "route add default via 10.123.1.254",
        ):  # fmt: skip
            sh("ip", "-netns", pod, *command.split())

        def dropped(table: str) -> list[int]:
            text = inside(1, "nft", "list", "table", "inet", table)
            return [int(packets) for packets in re.findall(r"counter packets (\d+)", text)]

        with entered(pod):
            for number, port, own in (
                (1, 8472, "10.123.1.9"), (2, 8472, "10.123.1.9"), (2, 8473, "10.123.1.9"), (2, 9, "10.123.1.10"), (2, 9, "10.123.2.9"),
            ):  # fmt: skip
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
                    sending.bind((own, 0))
                    sending.sendto(b"x", (address(node_range, number), port))
        # Those of two addresses that are not its own, of this node's pods and of another's.
        await eventually(lambda: sum(dropped("PYB-SPOOFED")) == 2)
        if backend == "vxlan":  # of the others, its own and the one that was asked
            await eventually(lambda: sorted(dropped("PYB-OVERLAY")) == [0, 1, 1])
            with socket.socket(
                socket.AF_INET, socket.SOCK_DGRAM
            ) as stranger:  # this machine is none of the nodes
                stranger.sendto(b"x", (address(node_range, 1), 8472))
            await eventually(lambda: sorted(dropped("PYB-OVERLAY")) == [0, 1, 2])
    finally:
        sh("ip", "netns", "delete", pod)


async def _break_and_heal(node_range: str, backend: str) -> None:
    # A cut cable: nothing passes, and all is well when it is back.
    cable = f"pybt{MARK}2"
    sh("ip", "link", "set", cable, "down")
    await meet((1, 2), wanted=False)
    sh("ip", "link", "set", cable, "up")
    await meet((1, 2), (2, 1))
    # A link that the node itself loses takes routes with it, which come back.
    inside(1, "ip", "link", "set", "eth0", "down")
    inside(1, "ip", "address", "replace", "2001:db8::1/64", "dev", "eth0", "nodad")
    inside(1, "ip", "link", "set", "eth0", "up")
    inside(1, "ip", "address", "replace", "2001:db8::1/64", "dev", "eth0", "nodad")
    await meet((1, 2), (3, 1))
    # Somebody removes what the agent made.
    if backend == "vxlan":
        inside(1, "ip", "link", "delete", DEVICE)
    else:
        inside(1, "ip", "route", "delete", "10.123.2.0/24")
    inside(1, "ip", "route", "delete", "unreachable", RANGES[0])
    await meet((1, 2), (3, 1))
    await eventually(lambda: f"unreachable {RANGES[0]}" in inside(1, "ip", "route"), 60)
    # Somebody removes the rules, all of them or one by one.
    for vandal in ("nft flush ruleset", "iptables -t nat -F POSTROUTING", "ip6tables -F FORWARD"):
        inside(1, *vandal.split())
        await eventually(lambda: _rules_are_there(backend), 60)
    # A slow link that loses packets carries them still.
    lossy = ["INPUT", "-s", address(node_range, 2), "-m", "statistic", "--mode", "random", "--probability", "0.3",
             "-j", "DROP"]  # fmt: skip
    inside(1, "iptables", "-A", *lossy)
    inside(2, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "512kbit", "burst", "2kb",
           "latency", "400ms")  # fmt: skip
    await meet((1, 2), (1, 2))
    inside(1, "iptables", "-D", *lossy)
    inside(2, "tc", "qdisc", "delete", "dev", "eth0", "root")


def _rules_are_there(backend: str) -> bool:
    overlay = backend != "vxlan" or "PYB-OVERLAY" in inside(1, "nft", "list", "tables")
    return overlay and all(
        f"-j {jump}\n" in inside(1, program, "-t", table, "-S")
        for program in ("iptables", "ip6tables")
        for table, jump in (("nat", "PYB-MASQUERADE"), ("filter", "PYB-FORWARD"))
    )
