"""The mode ipvs in a kernel that has it: run by scripts/virtual-machine, and by nothing else.

Network namespaces stand for the node, its pods, a pod elsewhere and somebody outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from pybernetes.node.proxy import conntrack, proxy_server
from pybernetes.node.proxy.backend import Settings, SyncError
from pybernetes.node.proxy.backends.ipvs.ipvs import MODE, Ipvs
from pybernetes.node.proxy.backends.ipvs.kernel import Kernel, has_virtual_servers
from pybernetes.node.proxy.backends.ipvs.virtual_servers import LINK, Address, RealServer
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.local_traffic import LocalTraffic
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import ServicePort
from tests.node.proxy.backends.test_backends import ADDRESS, FAR, A, B, ProxyNode, service_port
from tests.node.proxy.namespaces import NODE_IP, OUTSIDE_IP, POD_RANGE, PODS, World, command, inside

SCHEDULERS = ("rr", "wrr", "lc", "wlc", "lblc", "lblcr", "sh", "dh", "sed", "nq", "fo", "ovf", "mh")
VIP = Address("tcp", ADDRESS, 80)


@contextlib.asynccontextmanager
async def proxy_node(options: dict[str, Any], **settings: Any) -> AsyncIterator[ProxyNode]:
    with World() as world, inside(world.names["node"]):
        own = Settings(
            Node("node", addresses=(NODE_IP,)), LocalTraffic(ranges=(POD_RANGE,)), options=options, **settings
        )
        backend = MODE(own, 4)
        await backend.resync([])
        for pod in PODS:
            await world.serve(pod)
        try:
            yield ProxyNode(world, backend)
        finally:
            await backend.close()
            world.stop()


def scenario(
    work: Callable[[ProxyNode], Coroutine[Any, Any, None]],
    options: dict[str, Any] | None = None,
    **settings: Any,
) -> None:
    async def run() -> None:
        async with proxy_node(options or {}, **settings) as node:
            await work(node)

    asyncio.run(run())


def kernel_of(node: ProxyNode) -> Kernel:
    assert isinstance(node.backend, Ipvs) and node.backend._kernel is not None
    return node.backend._kernel


def test_the_kernel_has_it() -> None:
    assert has_virtual_servers() and MODE.missing() == ""


def test_reach_spread_and_change() -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port())
        for where in ("a", "node", "outside"):
            assert await node.answers(where, times=15) == {"a": 5, "b": 5, "far": 5}, where
        # A pod that reaches itself sees another's address; others on the node keep theirs.
        seen = {await node.world.ask("a", ADDRESS, 80) for _ in range(6)}
        assert ("b", PODS["a"]) in seen and ("a", PODS["a"]) not in seen
        await node.have(service_port(cluster=(B,)))
        assert set(await node.answers("a", times=6)) == {"b"}
        await node.have(service_port(cluster=(), exists=False))
        for where in ("a", "node", "outside"):
            with pytest.raises(ConnectionRefusedError):
                await node.world.ask(where, ADDRESS, 80)
        await node.have(
            service_port(cluster=(A,), cluster_ip="10.96.0.11"), service_port(port_name="two", port=81)
        )
        assert await node.answers("b", "10.96.0.11", times=3) == {"a": 3}
        assert set(await node.answers("b", port=81, times=6)) == {"a", "b", "far"}
        # What else listens on the node is not reached by the address of a Service.
        own = node.world.socket_in("node", socket.SOCK_STREAM)
        own.bind(("0.0.0.0", 10250))
        own.listen()
        for where in ("a", "outside"):
            with pytest.raises(OSError):
                await node.world.ask(where, ADDRESS, 10250, 3)
        own.close()
        await node.have()
        assert not await kernel_of(node).virtual_servers()

    scenario(work)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_schedulers(scheduler: str) -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port())
        assert (await kernel_of(node).virtual_servers())[VIP].scheduler == scheduler
        answers = await node.answers("outside", times=12)
        assert sum(answers.values()) == 12
        one = {"sh", "dh", "lblc", "lblcr", "fo"}  # one client, one address: always the same
        assert len(answers) == 1 if scheduler in one else answers
        if scheduler in ("rr", "wrr"):
            assert answers == {"a": 4, "b": 4, "far": 4}

    scenario(work, {"scheduler": scheduler})


def test_an_unknown_scheduler_is_named() -> None:
    async def work(node: ProxyNode) -> None:
        with pytest.raises(SyncError, match="the kernel has no scheduler coin"):
            await node.have(service_port())

    scenario(work, {"scheduler": "coin"})


def test_affinity() -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port(affinity_seconds=100))
        first = await node.answers("outside", times=9)
        assert len(first) == 1
        await node.have(service_port(affinity_seconds=100, cluster=(A, B, FAR, Target("10.244.9.9", 1))))
        assert set(await node.answers("outside", times=9)) == set(first)
        (name,) = first
        others = tuple(target for target in (A, B) if PODS[name] != target.ip)
        await node.have(service_port(affinity_seconds=100, cluster=others))
        assert len(await node.answers("outside", times=9)) == 1
        await node.have(service_port())
        assert len(await node.answers("outside", times=9)) > 1

    scenario(work)


def test_ways_in_from_outside() -> None:
    async def work(node: ProxyNode) -> None:
        ask = node.world.ask
        await node.have(
            service_port(node_port=30080, external_ips=("192.0.2.7",), load_balancer_ips=("198.51.100.7",))
        )
        for address, port in ((NODE_IP, 30080), ("192.0.2.7", 80), ("198.51.100.7", 80)):
            for where in ("outside", "a", "node"):
                assert set(await node.answers(where, address, port, times=6)) == {"a", "b", "far"}
        # Only sources that may come in do so, by the load balancer's address.
        await node.have(service_port(load_balancer_ips=("198.51.100.7",), source_ranges=("203.0.113.0/24",)))
        for where in ("outside", "node"):
            with pytest.raises(asyncio.TimeoutError):
                await ask(where, "198.51.100.7", 80, 2)
        await node.have(service_port(load_balancer_ips=("198.51.100.7",), source_ranges=("172.29.0.0/24",)))
        for where in ("outside", "node"):
            assert set(await node.answers(where, "198.51.100.7", times=6)) == {"a", "b", "far"}
        # With the policy Local only pods of this node answer, and they see who asks.
        await node.have(service_port(node_port=30080, external_local=True, local=(A, B)))
        seen = {await ask("outside", NODE_IP, 30080) for _ in range(8)}
        assert seen == {("a", OUTSIDE_IP), ("b", OUTSIDE_IP)}
        # Without a pod here packets from outside are dropped; from here they still go elsewhere.
        await node.have(service_port(node_port=30080, external_local=True, cluster=(FAR,)))
        with pytest.raises(asyncio.TimeoutError):
            await ask("outside", NODE_IP, 30080, 2)
        assert (await ask("a", NODE_IP, 30080))[0] == "far"
        assert (await ask("node", NODE_IP, 30080))[0] == "far"
        await node.have(service_port(internal_local=True, cluster=(), local=(B,)))
        assert set(await node.answers("a", times=4)) == {"b"}
        await node.have(service_port(node_port=30080, cluster=(), exists=False))
        with pytest.raises(ConnectionRefusedError):
            await ask("outside", NODE_IP, 30080)

    scenario(work)


def test_node_ports_on_some_addresses_and_on_new_ones() -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port(node_port=30080))
        assert (await node.world.ask("outside", NODE_IP, 30080))[0] in PODS
        with pytest.raises((ConnectionRefusedError, asyncio.TimeoutError)):
            await node.world.ask("a", "10.244.1.1", 30080, 2)
        command("ip", "address", "add", "172.29.0.77/24", "dev", "eth0")
        await node.have(service_port(node_port=30080, cluster=(A,)))
        assert (await node.world.ask("outside", "172.29.0.77", 30080))[0] == "a"

    scenario(work, node_port_addresses=("172.29.0.0/24",))


def test_udp_and_stale_connections() -> None:
    async def work(node: ProxyNode) -> None:
        def dns(*targets: Target) -> ServicePort:
            serving = frozenset(target[:2] for target in targets)
            return service_port(protocol="udp", cluster=targets, serving=serving, exists=bool(targets))

        client = node.world.socket_in("outside", socket.SOCK_DGRAM)
        await node.have(dns(A))
        assert await node.world.tell(client, ADDRESS, 80) == "a"
        await node.have(dns(B))
        await conntrack.forget_stale([dns(B)], 4)
        with contextlib.suppress(asyncio.TimeoutError):  # the packet that tells the kernel may be lost
            await node.world.tell(client, ADDRESS, 80, 2)
        assert await node.world.tell(client, ADDRESS, 80) == "b"
        client.close()

    scenario(work)


def test_graceful_ending() -> None:
    """A connection that there is goes on while its pod ends; new ones go elsewhere; then the real server goes."""

    async def work(node: ProxyNode) -> None:
        kernel, backend = kernel_of(node), node.backend
        assert isinstance(backend, Ipvs)
        listener = node.world.socket_in("a", socket.SOCK_STREAM)
        listener.bind(("0.0.0.0", 9090))
        listener.listen()
        loop = asyncio.get_running_loop()
        long_lived = Target(PODS["a"], 9090, True)
        await node.have(service_port(cluster=(long_lived,)))
        client = node.world.socket_in("outside", socket.SOCK_STREAM)
        await asyncio.wait_for(loop.sock_connect(client, (ADDRESS, 80)), 30)
        accepted, _ = await asyncio.wait_for(loop.sock_accept(listener), 30)
        accepted.setblocking(False)
        await node.have(service_port(cluster=(B,)))
        real = RealServer(PODS["a"], 9090)
        assert (await kernel.real_servers(VIP))[real].weight == 0
        assert set(await node.answers("outside", times=4)) == {"b"}
        await loop.sock_sendall(client, b"still there?")
        assert await asyncio.wait_for(loop.sock_recv(accepted, 100), 30) == b"still there?"
        await backend.remove_ended(kernel)
        assert real in await kernel.real_servers(VIP)
        # One that comes back before it has ended gets connections again.
        await node.have(service_port(cluster=(B, long_lived)))
        assert (await kernel.real_servers(VIP))[real].weight == 1
        await node.have(service_port(cluster=(B,)))
        # Somebody who starts anew finds it, too.
        fresh = MODE(backend.settings, 4)
        await fresh.resync(node.service_ports.values())
        # Ended at once: the kernel remembers a connection that was closed in good order for two minutes, this one for ten seconds.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        accepted.close()
        for _ in range(120):
            await fresh.remove_ended(kernel)
            if real not in await kernel.real_servers(VIP):
                break
            await asyncio.sleep(1)
        assert real not in await kernel.real_servers(VIP)
        await fresh.close()
        listener.close()

    scenario(work)


def test_ipv6() -> None:
    async def run() -> None:
        with World() as world, inside(world.names["node"]):
            command("ip", "address", "add", "fd00:244::2/64", "dev", "cni0", "nodad")
            settings = Settings(
                Node("node", addresses=("fd00:30::2",)), LocalTraffic(ranges=("fd00:244::/32",))
            )
            backend = MODE(settings, 6)
            await backend.resync([])
            targets = (Target("fd00:244::2", 8080, True), Target("fd00:244:1::3", 8080))
            whole = service_port(
                family=6, cluster_ip="fd00:96::10", cluster=targets, local=targets[:1], external_local=True,
                node_port=30080, external_ips=("2001:db8::7",), load_balancer_ips=("2001:db8::8",),
                source_ranges=("2001:db8:1::/48",), affinity_seconds=60, health_check_port=31000,
            )  # fmt: skip
            node = ProxyNode(world, backend)
            await node.have(whole)
            assert kernel_of(node) is not None
            await node.have(service_port(family=6, cluster_ip="fd00:96::10", cluster=targets[:1]))

            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(b"six")
                writer.close()

            async with await asyncio.start_server(answer, "fd00:244::2", 8080):
                reader, writer = await asyncio.wait_for(asyncio.open_connection("fd00:96::10", 80), 30)
                assert await asyncio.wait_for(reader.read(), 30) == b"six"
                writer.close()
            await backend.close()
            await proxy_server.cleanup()
            assert "KUBE" not in command("ip6tables-save") and "KUBE" not in command("ipset", "save")

    asyncio.run(run())


def test_what_others_did_is_undone_and_a_new_start_changes_nothing() -> None:
    async def work(node: ProxyNode) -> None:
        command("ipvsadm", "-A", "-t", "203.0.113.7:443", "-s", "wlc")  # of ranges that are not ours
        ports = [service_port(node_port=30080, affinity_seconds=60), service_port(port_name="two", port=81)]
        await node.have(*ports)
        state = (
            command("ipvsadm", "-Sn"),
            command("ipset", "save"),
            command("ip", "-o", "address", "show", LINK),
        )
        await node.backend.resync(ports)
        assert state == (
            command("ipvsadm", "-Sn"),
            command("ipset", "save"),
            command("ip", "-o", "address", "show", LINK),
        )
        command("ipvsadm", "-D", "-t", f"{ADDRESS}:80")
        command("ipvsadm", "-A", "-t", f"{ADDRESS}:99", "-s", "rr")
        command("ip", "address", "add", "10.96.0.99/32", "dev", LINK)
        command("ipset", "add", "KUBE-CLUSTER-IP", "10.96.0.99,tcp:1")
        await node.backend.resync(ports)
        assert sorted(command("ipvsadm", "-Sn").splitlines()) == sorted(state[0].splitlines())
        assert sorted(command("ipset", "save").splitlines()) == sorted(state[1].splitlines())
        assert "10.96.0.99" not in command("ip", "address", "show", LINK)
        # Cleaning up leaves what is not ours.
        await proxy_server.cleanup()
        assert command("ipvsadm", "-Sn").split() == ["-A", "-t", "203.0.113.7:443", "-s", "wlc"]
        assert "KUBE" not in command("iptables-save") and not command("ipset", "save")
        assert LINK not in command("ip", "link")

    scenario(work, {"excludeCIDRs": ["203.0.113.0/24"]})


def test_strict_arp_and_timeouts() -> None:
    async def work(node: ProxyNode) -> None:
        read = [
            command("sysctl", "-n", f"net.ipv4.conf.all.{name}").strip()
            for name in ("arp_ignore", "arp_announce")
        ]
        assert read == ["1", "2"]
        assert command("ipvsadm", "-L", "--timeout").split()[-3:] == ["901", "31", "302"]
        assert command("sysctl", "-n", "net.ipv4.vs.conntrack").strip() == "1"

    options = {"strictARP": True, "tcpTimeout": "15m1s", "tcpFinTimeout": "31s", "udpTimeout": "5m2s"}
    scenario(work, options)


def test_another_mode_cleans_up_after_it() -> None:
    async def work(node: ProxyNode) -> None:
        from pybernetes.node.proxy.backend import modes

        await node.have(service_port())
        await proxy_server.cleanup(keep="nftables")
        backend = modes()["nftables"](node.backend.settings, 4)
        await backend.resync([service_port()])
        assert set(await node.answers("outside", times=40)) == {"a", "b", "far"}
        assert LINK not in command("ip", "link")

    scenario(work)
