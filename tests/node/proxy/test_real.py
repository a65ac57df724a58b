"""Each mode in real network namespaces: reach, spread, affinity, refusal, node ports, local traffic, UDP, hairpin."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from pybernetes.node.proxy import conntrack, proxy_server
from pybernetes.node.proxy.backend import Backend, LocalTraffic, Settings, modes
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.service_port import Node, ServicePort, Target
from pybernetes.tools.local import network
from tests.node.proxy.namespaces import GATEWAY, NODE_IP, OUTSIDE_IP, POD_RANGE, PODS, World, command, inside

_MISSING = [each for each in ("ip", "iptables", "nft", "conntrack") if shutil.which(each) is None]
_CAN = os.geteuid() == 0 and not _MISSING
pytestmark = pytest.mark.skipif(
    not _CAN and not os.environ.get("CI"),
    reason=f"needs root and {', '.join(_MISSING) or 'network namespaces'}",
)

ADDRESS = "10.96.0.10"
A, B, FAR = Target(PODS["a"], 8080, True), Target(PODS["b"], 8080, True), Target(PODS["far"], 8080)
MODES = ("iptables", "nftables", "userspace")


def portal(**changes: Any) -> ServicePort:
    """A Service with three pods, two of them on this node."""
    fields: dict[str, Any] = {
        "service": "default/web", "port_name": "http", "protocol": "tcp", "family": 4, "cluster_ip": ADDRESS,
        "port": 80, "cluster": (A, B, FAR), "exists": True,
    }  # fmt: skip
    return ServicePort(**{**fields, **changes})


class Node1:
    """The node with a backend that holds one portal."""

    def __init__(self, world: World, backend: Backend) -> None:
        self.world, self.backend = world, backend
        self.held: dict[Any, ServicePort] = {}

    async def have(self, *portals: ServicePort) -> None:
        """Has exactly these portals hold, by the changes that it takes."""
        wanted = {each.key: each for each in portals}
        changes = [
            Change(self.held.get(key), each) for key, each in wanted.items() if self.held.get(key) != each
        ]
        changes += [Change(each, None) for key, each in self.held.items() if key not in wanted]
        await self.backend.sync(changes)
        self.held = wanted

    async def answers(
        self, where: str, address: str = ADDRESS, port: int = 80, times: int = 60
    ) -> Counter[str]:
        """Who answers, how often."""
        return Counter([(await self.world.ask(where, address, port))[0] for _ in range(times)])


@contextlib.asynccontextmanager
async def node(mode: str, **settings: Any) -> AsyncIterator[Node1]:
    with World() as world, inside(world.names["node"]):
        own = Settings(Node("node", addresses=(NODE_IP,)), LocalTraffic(ranges=(POD_RANGE,)), **settings)
        backend = modes()[mode](own, 4)
        await backend.resync([])
        for pod in PODS:
            await world.serve(pod)
        try:
            yield Node1(world, backend)
        finally:
            await backend.close()
            world.stop()


def scenario(work: Callable[[Node1], Coroutine[Any, Any, None]], mode: str, **settings: Any) -> None:
    async def run() -> None:
        async with node(mode, **settings) as one:
            await work(one)

    asyncio.run(run())


@pytest.mark.parametrize("mode", MODES)
def test_reach_spread_and_change(mode: str) -> None:
    async def work(one: Node1) -> None:
        with one.world.listen("outside") as heard:
            for where in ("a", "node"):  # no rule: nobody answers, and nothing leaves the node
                with pytest.raises((OSError, asyncio.TimeoutError)):
                    await one.world.ask(where, ADDRESS, 80, 0.3)
            assert (await one.world.ask("node", PODS["a"], 8080))[0] == "a"
            assert not [each for each in heard() if socket.inet_aton(ADDRESS) in each]
        await one.have(portal())
        for where in ("a", "node", "outside"):
            found = await one.answers(where)
            assert set(found) == {"a", "b", "far"}, where
            if mode == "userspace":  # one after the other; the kernel's modes pick at random
                assert set(found.values()) == {20}
        # A pod that reaches itself sees another's address; others on the node keep theirs.
        seen = {await one.world.ask("a", ADDRESS, 80) for _ in range(60)}
        others = GATEWAY if mode == "userspace" else PODS["a"]
        assert ("b", others) in seen and ("a", PODS["a"]) not in seen
        await one.have(portal(cluster=(B,)))
        assert set(await one.answers("a")) == {"b"}
        await one.have(portal(cluster=(), exists=False))
        for where in ("a", "node", "outside"):
            with pytest.raises(ConnectionRefusedError):
                await one.world.ask(where, ADDRESS, 80)
        await one.have(portal(cluster=(A,), cluster_ip="10.96.0.11"), portal(port_name="two", port=81))
        assert await one.answers("b", "10.96.0.11", times=3) == {"a": 3}
        assert set(await one.answers("b", port=81)) == {"a", "b", "far"}
        await one.have()
        await proxy_server.cleanup()
        assert "KUBE" not in command("iptables-save") and "kube" not in command("nft", "list", "ruleset")

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_affinity(mode: str) -> None:
    async def work(one: Node1) -> None:
        await one.have(portal(affinity_seconds=100))
        first = await one.answers("outside", times=12)
        assert len(first) == 1
        await one.have(portal(affinity_seconds=100, cluster=(A, B, FAR, Target("10.244.9.9", 1))))
        assert set(await one.answers("outside", times=12)) == set(first)
        (name,) = first
        await one.have(
            portal(affinity_seconds=100, cluster=tuple(each for each in (A, B) if PODS[name] != each.ip))
        )
        assert len(await one.answers("outside", times=12)) == 1
        await one.have(portal())
        assert len(await one.answers("outside", times=24)) > 1

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_ways_in_from_outside(mode: str) -> None:
    async def work(one: Node1) -> None:
        ask = one.world.ask
        open_ = portal(node_port=30080, external_ips=("192.0.2.7",), load_balancer_ips=("198.51.100.7",))
        await one.have(open_)
        for address, port in ((NODE_IP, 30080), ("192.0.2.7", 80), ("198.51.100.7", 80)):
            assert set(await one.answers("outside", address, port)) == {"a", "b", "far"}
            assert set(await one.answers("a", address, port)) == {"a", "b", "far"}
        # Only sources that may come in do so, by the load balancer's address.
        await one.have(portal(load_balancer_ips=("198.51.100.7",), source_ranges=("203.0.113.0/24",)))
        with pytest.raises(asyncio.TimeoutError):
            await ask("outside", "198.51.100.7", 80, 0.3)
        await one.have(portal(load_balancer_ips=("198.51.100.7",), source_ranges=("172.29.0.0/24",)))
        assert set(await one.answers("outside", "198.51.100.7")) == {"a", "b", "far"}
        # With the policy Local only pods of this node answer, and they see who asks.
        await one.have(portal(node_port=30080, external_local=True, local=(A, B)))
        seen = {await ask("outside", NODE_IP, 30080) for _ in range(40)}
        source = GATEWAY if mode == "userspace" else OUTSIDE_IP
        assert seen == {("a", source), ("b", source)}
        assert set(await one.answers("a", NODE_IP, 30080)) == {"a", "b", "far"}
        # Without a pod here packets from outside are dropped; from here they still go elsewhere.
        await one.have(portal(node_port=30080, external_local=True, cluster=(FAR,)))
        with pytest.raises(asyncio.TimeoutError):
            await ask("outside", NODE_IP, 30080, 0.3)
        assert (await ask("a", NODE_IP, 30080))[0] == "far"
        await one.have(portal(internal_local=True, cluster=(), local=(B,)))
        assert set(await one.answers("a")) == {"b"}
        await one.have(portal(node_port=30080, cluster=(), exists=False))
        with pytest.raises(ConnectionRefusedError):
            await ask("outside", NODE_IP, 30080)

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_node_ports_on_some_addresses(mode: str) -> None:
    async def work(one: Node1) -> None:
        await one.have(portal(node_port=30080))
        assert (await one.world.ask("outside", NODE_IP, 30080))[0] in PODS
        with pytest.raises((ConnectionRefusedError, asyncio.TimeoutError)):
            await one.world.ask("a", "10.244.1.1", 30080, 0.5)

    scenario(work, mode, node_port_addresses=("172.29.0.0/24",))


@pytest.mark.parametrize("mode", MODES)
def test_udp_and_stale_connections(mode: str) -> None:
    async def work(one: Node1) -> None:
        def dns(*targets: Target) -> ServicePort:
            serving = frozenset(each[:2] for each in targets)
            return portal(protocol="udp", cluster=targets, serving=serving, exists=bool(targets))

        made = one.world.socket("outside", socket.SOCK_DGRAM)
        await one.have(dns(A))
        assert await one.world.tell(made, ADDRESS, 80) == "a"
        await one.have(dns(B))
        await conntrack.forget_stale([dns(B)], 4)
        assert await one.world.tell(made, ADDRESS, 80) == "b"
        made.close()

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_ipv6(mode: str) -> None:
    """A portal of the other family, of which the kernel takes every rule and which answers on the node itself."""

    async def run() -> None:
        with World() as world, inside(world.names["node"]):
            command("ip", "address", "add", "fd00:244::2/64", "dev", "cni0", "nodad")
            command("ip", "route", "add", "fd00:96::/112", "dev", network.SINK)
            settings = Settings(
                Node("node", addresses=("fd00:30::2",)), LocalTraffic(ranges=("fd00:244::/32",))
            )
            backend = modes()[mode](settings, 6)
            await backend.resync([])
            targets = (Target("fd00:244::2", 8080, True), Target("fd00:244:1::3", 8080))
            whole = portal(
                family=6, cluster_ip="fd00:96::10", cluster=targets, local=targets[:1], external_local=True,
                node_port=30080, external_ips=("2001:db8::7",), load_balancer_ips=("2001:db8::8",),
                source_ranges=("2001:db8:1::/48",), affinity_seconds=60, health_check_port=31000,
            )  # fmt: skip
            await backend.sync([Change(None, whole)])
            simple = portal(family=6, cluster_ip="fd00:96::10", cluster=targets[:1])
            await backend.sync([Change(whole, simple)])

            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(b"six")
                writer.close()

            async with await asyncio.start_server(answer, "fd00:244::2", 8080):
                reader, writer = await asyncio.open_connection("fd00:96::10", 80)
                assert await reader.read() == b"six"
                writer.close()
            await backend.close()
            await proxy_server.cleanup()
            assert "KUBE" not in command("ip6tables-save") and "kube" not in command("nft", "list", "ruleset")

    asyncio.run(run())
