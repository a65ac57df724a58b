"""Each mode in real network namespaces: reach, spread, affinity, refusal, node ports, local traffic, UDP, hairpin."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from pybernetes.node.proxy import conntrack, proxy_server
from pybernetes.node.proxy.backend import Backend, Settings, modes
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.local_traffic import LocalTraffic
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import ServicePort
from pybernetes.tools.local import network
from tests.node.proxy.namespaces import (
    GATEWAY,
    NODE_IP,
    OUTSIDE_IP,
    POD_RANGE,
    PODS,
    World,
    command,
    inside,
    needs_namespaces,
)

pytestmark = needs_namespaces

ADDRESS = "10.96.0.10"
A, B, FAR = Target(PODS["a"], 8080, True), Target(PODS["b"], 8080, True), Target(PODS["far"], 8080)
MODES = ("iptables", "nftables", "userspace")


def service_port(**changes: Any) -> ServicePort:
    """Return a Service with three pods, two of them on this node."""
    fields: dict[str, Any] = {
        "service": "default/web", "port_name": "http", "protocol": "tcp", "family": 4, "cluster_ip": ADDRESS,
        "port": 80, "cluster": (A, B, FAR), "exists": True,
    }  # fmt: skip
    return ServicePort(**{**fields, **changes})


class ProxyNode:
    """The node, with a backend."""

    def __init__(self, world: World, backend: Backend) -> None:
        self.world, self.backend = world, backend
        self.service_ports: dict[Any, ServicePort] = {}

    async def have(self, *service_ports: ServicePort) -> None:
        """Make these the only ServicePorts, by the changes that it takes."""
        old, new = self.service_ports, {port.key: port for port in service_ports}
        changes = [Change(old.get(key), port) for key, port in new.items() if old.get(key) != port]
        changes += [Change(port, None) for key, port in old.items() if key not in new]
        await self.backend.sync(changes)
        self.service_ports = new

    async def answers(
        self, where: str, address: str = ADDRESS, port: int = 80, times: int = 60
    ) -> Counter[str]:
        """Return who answers, how often."""
        return Counter([(await self.world.ask(where, address, port))[0] for _ in range(times)])


@contextlib.asynccontextmanager
async def proxy_node(mode: str, **settings: Any) -> AsyncIterator[ProxyNode]:
    with World() as world, inside(world.names["node"]):
        own = Settings(Node("node", addresses=(NODE_IP,)), LocalTraffic(ranges=(POD_RANGE,)), **settings)
        backend = modes()[mode](own, 4)
        await backend.resync([])
        for pod in PODS:
            await world.serve(pod)
        try:
            yield ProxyNode(world, backend)
        finally:
            await backend.close()
            world.stop()


def scenario(work: Callable[[ProxyNode], Coroutine[Any, Any, None]], mode: str, **settings: Any) -> None:
    async def run() -> None:
        async with proxy_node(mode, **settings) as node:
            await work(node)

    asyncio.run(run())


@pytest.mark.parametrize("mode", MODES)
def test_reach_spread_and_change(mode: str) -> None:
    async def work(node: ProxyNode) -> None:
        with node.world.listen("outside") as heard:
            for where in ("a", "node"):  # no rule: nobody answers, and nothing leaves the node
                with pytest.raises((OSError, asyncio.TimeoutError)):
                    await node.world.ask(where, ADDRESS, 80, 0.3)
            assert (await node.world.ask("node", PODS["a"], 8080))[0] == "a"
            assert not [packet for packet in heard() if socket.inet_aton(ADDRESS) in packet]
        await node.have(service_port())
        for where in ("a", "node", "outside"):
            answers = await node.answers(where)
            assert set(answers) == {"a", "b", "far"}, where
            if mode == "userspace":  # one after the other; the kernel's modes pick at random
                assert set(answers.values()) == {20}
        # A pod that reaches itself sees another's address; others on the node keep theirs.
        seen = {await node.world.ask("a", ADDRESS, 80) for _ in range(60)}
        others = GATEWAY if mode == "userspace" else PODS["a"]
        assert ("b", others) in seen and ("a", PODS["a"]) not in seen
        await node.have(service_port(cluster=(B,)))
        assert set(await node.answers("a")) == {"b"}
        await node.have(service_port(cluster=(), exists=False))
        for where in ("a", "node", "outside"):
            with pytest.raises(ConnectionRefusedError):
                await node.world.ask(where, ADDRESS, 80)
        await node.have(
            service_port(cluster=(A,), cluster_ip="10.96.0.11"), service_port(port_name="two", port=81)
        )
        assert await node.answers("b", "10.96.0.11", times=3) == {"a": 3}
        assert set(await node.answers("b", port=81)) == {"a", "b", "far"}
        await node.have()
        await proxy_server.cleanup()
        assert "KUBE" not in command("iptables-save") and "kube" not in command("nft", "list", "ruleset")

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_affinity(mode: str) -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port(affinity_seconds=100))
        first = await node.answers("outside", times=12)
        assert len(first) == 1
        await node.have(service_port(affinity_seconds=100, cluster=(A, B, FAR, Target("10.244.9.9", 1))))
        assert set(await node.answers("outside", times=12)) == set(first)
        (name,) = first
        await node.have(
            service_port(
                affinity_seconds=100, cluster=tuple(target for target in (A, B) if PODS[name] != target.ip)
            )
        )
        assert len(await node.answers("outside", times=12)) == 1
        await node.have(service_port())
        assert len(await node.answers("outside", times=24)) > 1

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_ways_in_from_outside(mode: str) -> None:
    async def work(node: ProxyNode) -> None:
        ask = node.world.ask
        open_ = service_port(
            node_port=30080, external_ips=("192.0.2.7",), load_balancer_ips=("198.51.100.7",)
        )
        await node.have(open_)
        for address, port in ((NODE_IP, 30080), ("192.0.2.7", 80), ("198.51.100.7", 80)):
            assert set(await node.answers("outside", address, port)) == {"a", "b", "far"}
            assert set(await node.answers("a", address, port)) == {"a", "b", "far"}
        # Only sources that may come in do so, by the load balancer's address.
        await node.have(service_port(load_balancer_ips=("198.51.100.7",), source_ranges=("203.0.113.0/24",)))
        with pytest.raises(asyncio.TimeoutError):
            await ask("outside", "198.51.100.7", 80, 0.3)
        await node.have(service_port(load_balancer_ips=("198.51.100.7",), source_ranges=("172.29.0.0/24",)))
        assert set(await node.answers("outside", "198.51.100.7")) == {"a", "b", "far"}
        # With the policy Local only pods of this node answer, and they see who asks.
        await node.have(service_port(node_port=30080, external_local=True, local=(A, B)))
        seen = {await ask("outside", NODE_IP, 30080) for _ in range(40)}
        source = GATEWAY if mode == "userspace" else OUTSIDE_IP
        assert seen == {("a", source), ("b", source)}
        assert set(await node.answers("a", NODE_IP, 30080)) == {"a", "b", "far"}
        # Without a pod here packets from outside are dropped; from here they still go elsewhere.
        await node.have(service_port(node_port=30080, external_local=True, cluster=(FAR,)))
        with pytest.raises(asyncio.TimeoutError):
            await ask("outside", NODE_IP, 30080, 0.3)
        assert (await ask("a", NODE_IP, 30080))[0] == "far"
        await node.have(service_port(internal_local=True, cluster=(), local=(B,)))
        assert set(await node.answers("a")) == {"b"}
        await node.have(service_port(node_port=30080, cluster=(), exists=False))
        with pytest.raises(ConnectionRefusedError):
            await ask("outside", NODE_IP, 30080)

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_node_ports_on_some_addresses(mode: str) -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port(node_port=30080))
        assert (await node.world.ask("outside", NODE_IP, 30080))[0] in PODS
        with pytest.raises((ConnectionRefusedError, asyncio.TimeoutError)):
            await node.world.ask("a", "10.244.1.1", 30080, 0.5)

    scenario(work, mode, node_port_addresses=("172.29.0.0/24",))


@pytest.mark.parametrize("mode", MODES)
def test_udp_and_stale_connections(mode: str) -> None:
    async def work(node: ProxyNode) -> None:
        def dns(*targets: Target) -> ServicePort:
            serving = frozenset(target[:2] for target in targets)
            return service_port(protocol="udp", cluster=targets, serving=serving, exists=bool(targets))

        client = node.world.socket_in("outside", socket.SOCK_DGRAM)
        await node.have(dns(A))
        assert await node.world.tell(client, ADDRESS, 80) == "a"
        await node.have(dns(B))
        await conntrack.forget_stale([dns(B)], 4)
        assert await node.world.tell(client, ADDRESS, 80) == "b"
        client.close()

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_ipv6(mode: str) -> None:
    """A ServicePort of the other family, of which the kernel takes every rule and which answers on the node itself."""

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
            whole = service_port(
                family=6, cluster_ip="fd00:96::10", cluster=targets, local=targets[:1], external_local=True,
                node_port=30080, external_ips=("2001:db8::7",), load_balancer_ips=("2001:db8::8",),
                source_ranges=("2001:db8:1::/48",), affinity_seconds=60, health_check_port=31000,
            )  # fmt: skip
            await backend.sync([Change(None, whole)])
            simple = service_port(family=6, cluster_ip="fd00:96::10", cluster=targets[:1])
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


@pytest.mark.parametrize("mode", MODES)
def test_neighbours_do_not_reach_the_loopback_of_a_node(mode: str) -> None:
    """CVE-2020-8558: node ports on localhost need a kernel setting that lets others in to what listens there alone."""

    async def work(node: ProxyNode) -> None:
        own = node.world.socket_in("node", socket.SOCK_STREAM)
        own.bind(("127.0.0.1", 10249))
        own.listen()

        async def attempt(where: str) -> bool:
            client = node.world.socket_in(where, socket.SOCK_STREAM)
            loop = asyncio.get_running_loop()
            try:
                await asyncio.wait_for(loop.sock_connect(client, ("127.0.0.1", 10249)), 0.5)
                return True
            except (OSError, TimeoutError):
                return False
            finally:
                client.close()

        await node.have(service_port(node_port=30080))
        for attacker, way in (("outside", NODE_IP), ("a", GATEWAY)):
            inner = node.world.names[attacker]
            command("ip", "-netns", inner, "address", "flush", "dev", "lo")
            command("ip", "netns", "exec", inner, "sysctl", "-qw", "net.ipv4.conf.all.route_localnet=1")
            command("ip", "-netns", inner, "route", "add", "127.0.0.1/32", "via", way)
            assert not await attempt(attacker)
        if mode == "iptables":  # the attack would work but for the rule
            command("iptables", "-F", "KUBE-FIREWALL")
            assert await attempt("outside")
        own.close()

    scenario(work, mode)
