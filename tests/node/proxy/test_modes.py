"""Each mode in real network namespaces: reach, spread, affinity, refusal, node ports, local traffic, UDP, hairpin, policies.

Modes are those that the kernel has: with IPVS there is one more (``scripts/virtual-machine``).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from pybernetes.node.network import firewall
from pybernetes.node.network.plan import Configuration, Peer, plan
from pybernetes.node.network.policy import nft, objects, rules
from pybernetes.node.network.policy.state import State
from pybernetes.node.proxy import conntrack, proxy_server
from pybernetes.node.proxy.backend import modes
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.service_port import ServicePort
from tests.node.proxy import sctp
from tests.node.proxy.namespaces import (
    GATEWAY,
    NODE_IP,
    OUTSIDE_IP,
    POD_RANGE,
    PODS,
    SIX,
    command,
    needs_namespaces,
    six,
)
from tests.node.proxy.proxy_node import (
    ADDRESS,
    FAR,
    SIX_TARGETS,
    A,
    B,
    ProxyNode,
    scenario,
    service_port,
    service_port_six,
)

pytestmark = needs_namespaces

MODES = tuple(name for name, mode in modes().items() if not mode.missing())
IN_TURN = ("userspace", "ipvs")  # targets come one after the other; the other modes pick at random
JUDGED = tuple(mode for mode in MODES if mode != "userspace")  # there policies see the node alone


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
            if mode in IN_TURN:
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
        # Pods of the node get every target, but for IPVS, which knows one list for everybody.
        everybody = {"a", "b"} if mode == "ipvs" else {"a", "b", "far"}
        assert set(await node.answers("a", NODE_IP, 30080)) == everybody
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
        if mode == "ipvs":  # the packet by which the kernel notices may be lost
            with contextlib.suppress(asyncio.TimeoutError):
                await node.world.tell(client, ADDRESS, 80, 2)
        assert await node.world.tell(client, ADDRESS, 80) == "b"
        client.close()

    scenario(work, mode)


@pytest.mark.parametrize("mode", MODES)
def test_ipv6(mode: str) -> None:
    """The other family: every way in, with the affinity and the policies that change rules."""

    async def work(node: ProxyNode) -> None:
        ways = {"external_ips": (six("192.0.2.7"),), "load_balancer_ips": (six("198.51.100.7"),)}
        await node.have(service_port_six(node_port=30080, **ways))
        for address, port in (
            (six(ADDRESS), 80), (six(NODE_IP), 30080), (six("192.0.2.7"), 80), (six("198.51.100.7"), 80),
        ):  # fmt: skip
            for where in ("a", "node", "outside"):
                assert set(await node.answers(where, address, port)) == {"a", "b", "far"}, (where, address)
        await node.have(service_port_six(node_port=30080, external_local=True, local=SIX_TARGETS[:2]))
        source = six(GATEWAY if mode == "userspace" else OUTSIDE_IP)
        seen = {await node.world.ask("outside", six(NODE_IP), 30080) for _ in range(20)}
        assert seen == {("a", source), ("b", source)}
        await node.have(
            service_port_six(
                local=SIX_TARGETS[:2], external_local=True, node_port=30080, source_ranges=("fd00:77::/48",),
                affinity_seconds=60, health_check_port=31000, **ways,
            )
        )  # fmt: skip
        assert len(await node.answers("outside", six(ADDRESS), times=8)) == 1
        with pytest.raises(asyncio.TimeoutError):
            await node.world.ask("outside", six("198.51.100.7"), 80, 0.3)
        await proxy_server.cleanup()
        assert "KUBE" not in command("ip6tables-save") and "kube" not in command("nft", "list", "ruleset")

    scenario(work, mode, family=6)


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("mode", MODES)
def test_sctp(mode: str, family: int) -> None:
    """Associations reach every target; userspace has no sockets for them and refuses."""
    make, targets = (service_port, (A, B, FAR)) if family == 4 else (service_port_six, SIX_TARGETS)
    service, own = (ADDRESS, NODE_IP) if family == 4 else (six(ADDRESS), six(NODE_IP))

    def signals(*cluster: Target, **more: Any) -> ServicePort:
        serving = frozenset(target[:2] for target in cluster)
        return make(protocol="sctp", cluster=cluster, serving=serving, exists=bool(cluster), **more)

    async def work(node: ProxyNode) -> None:
        async def begin(where: str, address: str, port: int, number: int) -> str:
            return await sctp.begin(node.world, where, address, port, family, number)

        async with contextlib.AsyncExitStack() as stack:
            for pod in PODS:
                await stack.enter_async_context(sctp.answering(node.world, pod, family))
            await node.have(signals(*targets, node_port=30080))
            if mode == "userspace":
                with pytest.raises(ConnectionRefusedError):
                    await begin("outside", service, 80, 40000)
                return
            for where, address, port in (("a", service, 80), ("outside", own, 30080), ("node", service, 80)):
                answers = {await begin(where, address, port, number) for number in range(40000, 40040)}
                assert answers == {"a", "b", "far"}, where
            await node.have(signals(targets[0]))
            assert await begin("outside", service, 80, 41000) == "a"
            await node.have(signals(targets[1]))
            assert await conntrack.forget_stale([signals(targets[1])], family) or mode == "ipvs"
            assert await begin("outside", service, 80, 41000) == "b"
            await node.have(
                signals(targets[0], affinity_seconds=100), signals(targets[1], port_name="2", port=81)
            )
            assert await begin("outside", service, 80, 42000) == "a"
            assert await begin("outside", service, 81, 42000) == "b"
            await node.have(signals())
            with pytest.raises(ConnectionRefusedError):
                await begin("outside", service, 80, 43000)

    scenario(work, mode, family=family)


def policy_table(**spec: Any) -> str:
    """Return the table of a node with pods ``a`` and ``b`` and one policy."""
    state = State("here", (4, 6))
    state.set_namespace("default", {})
    for name, address in PODS.items():
        pod = objects.pod(
            {
                "metadata": {"namespace": "default", "name": name, "labels": {"name": name}},
                "spec": {"nodeName": "there" if name == "far" else "here", "containers": []},
                "status": {"podIPs": [{"ip": address}, {"ip": six(address)}]},
            }
        )
        state.set_pod(pod.key, pod)
    policy = rules.network_policy({"metadata": {"namespace": "default", "name": "p"}, "spec": spec})
    state.set_policy(policy.key, policy)
    return nft.whole(state.everything(), (ip_network("10.244.1.0/24"), ip_network(SIX["here"])))


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("mode", JUDGED)
def test_policies_judge_the_pod_behind_a_service(mode: str, family: int) -> None:
    """Whatever the mode does with an address of a service: both ends are asked, with the addresses of the pods."""
    address, node_address = (ADDRESS, NODE_IP) if family == 4 else (six(ADDRESS), six(NODE_IP))
    make, (_, b, far) = (service_port, (A, B, FAR)) if family == 4 else (service_port_six, SIX_TARGETS)

    def only(name: str) -> dict[str, Any]:
        return {"podSelector": {"matchLabels": {"name": name}}}

    async def work(node: ProxyNode) -> None:
        async def denied(where: str, target: str, port: int) -> None:
            with pytest.raises(asyncio.TimeoutError):
                await node.world.ask(where, target, port, 0.3)

        def hold(**spec: Any) -> None:
            subprocess.run(["nft", "-f", "-"], input=policy_table(**spec), text=True, check=True)

        await node.have(make(cluster=(b,), node_port=30080))
        for where in ("a", "far", "outside", "node"):
            assert (await node.world.ask(where, address, 80))[0] == "b"
        hold(**only("b"), ingress=[{"from": [only("a")]}])
        assert (await node.world.ask("a", address, 80))[0] == "b"
        assert (await node.world.ask("node", address, 80))[0] == "b"  # its own node
        for where in ("far", "outside"):
            await denied(where, address, 80)
            await denied(where, node_address, 30080)
        assert (await node.world.ask("a", node_address, 30080))[0] == "b"
        hold(**only("a"), policyTypes=["Egress"], egress=[{"to": [only("far")]}])
        await denied("a", address, 80)
        await denied("a", node_address, 30080)
        assert (await node.world.ask("far", address, 80))[0] == "b"
        await node.have(make(cluster=(far,), node_port=30080))
        assert (await node.world.ask("a", address, 80))[0] == "far"
        assert (await node.world.ask("a", node_address, 30080))[0] == "far"

    scenario(work, mode, family=family)


@pytest.mark.parametrize("mode", JUDGED)
def test_no_service_leads_pods_to_the_overlay(mode: str) -> None:
    """Whoever sends to the overlay's port of a node chooses what the packets inside are from."""
    here, there = (
        Peer(name, (ip_network(pods),), (ip_address(address),))
        for name, pods, address in (
            ("here", "10.244.1.0/24", NODE_IP),
            ("there", "10.244.3.0/24", OUTSIDE_IP),
        )
    )
    planned = plan(here, [here, there], Configuration(cluster_cidrs=(POD_RANGE,)))
    assert planned is not None

    async def work(node: ProxyNode) -> None:
        loop = asyncio.get_running_loop()
        for place, address in (("node", NODE_IP), ("outside", OUTSIDE_IP)):
            listening = node.world.socket_in(place, socket.SOCK_DGRAM)
            listening.bind((address, 8472))
            await node.have(service_port(protocol="udp", cluster=(Target(address, 8472, place == "node"),)))
            for text, arrives in (("", True), (firewall.overlay_rules(planned), False)):
                subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)
                with node.world.socket_in("far", socket.SOCK_DGRAM) as client:
                    await loop.sock_sendto(client, b"?", (ADDRESS, 80))
                    try:
                        assert await asyncio.wait_for(loop.sock_recv(listening, 9), 30 if arrives else 0.5)
                        assert arrives
                    except TimeoutError:
                        assert not arrives
            command("nft", "delete", "table", "inet", "PYB-OVERLAY")
            listening.close()

    scenario(work, mode)


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
