"""What only the mode ipvs has, in a kernel that has it: run by scripts/virtual-machine, and by nothing else.

What it has in common with the other modes is in ``test_modes.py``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pybernetes.node.proxy import proxy_server
from pybernetes.node.proxy.backend import SyncError
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.ipvs.ipvs import MODE, Ipvs
from pybernetes.node.proxy.ipvs.kernel import Kernel, has_virtual_servers
from pybernetes.node.proxy.ipvs.virtual_servers import LINK, Address, RealServer
from tests.node.proxy import proxy_node
from tests.node.proxy.namespaces import PODS, command
from tests.node.proxy.proxy_node import ADDRESS, A, B, ProxyNode, service_port
from tests.support import eventually

SCHEDULERS = ("rr", "wrr", "lc", "wlc", "lblc", "lblcr", "sh", "dh", "sed", "nq", "fo", "ovf", "mh")
VIP = Address("tcp", ADDRESS, 80)


def scenario(
    work: Callable[[ProxyNode], Coroutine[Any, Any, None]],
    options: dict[str, Any] | None = None,
    **settings: Any,
) -> None:
    proxy_node.scenario(work, "ipvs", options=options or {}, **settings)


def kernel_of(node: ProxyNode) -> Kernel:
    assert isinstance(node.backend, Ipvs) and node.backend._kernel is not None
    return node.backend._kernel


def test_the_kernel_has_it() -> None:
    assert has_virtual_servers() and MODE.missing() == ""


def test_what_else_listens_on_the_node_is_not_reached_by_the_address_of_a_service() -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port())
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


def test_node_ports_on_a_new_address() -> None:
    async def work(node: ProxyNode) -> None:
        await node.have(service_port(node_port=30080))
        command("ip", "address", "add", "172.29.0.77/24", "dev", "eth0")
        await node.have(service_port(node_port=30080, cluster=(A,)))
        assert (await node.world.ask("outside", "172.29.0.77", 30080))[0] == "a"

    scenario(work, node_port_addresses=("172.29.0.0/24",))


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
        assert (await kernel.real_servers([VIP]))[VIP][real].weight == 0
        assert set(await node.answers("outside", times=4)) == {"b"}
        await loop.sock_sendall(client, b"still there?")
        assert await asyncio.wait_for(loop.sock_recv(accepted, 100), 30) == b"still there?"
        await backend.remove_ended(kernel)
        assert real in (await kernel.real_servers([VIP]))[VIP]
        # One that comes back before it has ended gets connections again.
        await node.have(service_port(cluster=(B, long_lived)))
        assert (await kernel.real_servers([VIP]))[VIP][real].weight == 1
        await node.have(service_port(cluster=(B,)))
        # Somebody who starts anew finds it, too.
        fresh = MODE(backend.settings, 4)
        await fresh.resync(node.service_ports.values())
        # Ended at once: the kernel remembers a connection that was closed in good order for two minutes, this one for ten seconds.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        accepted.close()

        async def ended() -> bool:
            await fresh.remove_ended(kernel)
            return real not in (await kernel.real_servers([VIP]))[VIP]

        await eventually(ended, 120)
        await fresh.close()
        listener.close()

    scenario(work)


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
