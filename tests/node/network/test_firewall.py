"""What the packet filter does to the traffic of pods."""

import asyncio
import socket
import struct

import pytest

from pybernetes.node.network import firewall
from pybernetes.node.network.plan import Configuration, plan
from tests.node.network.peers import ALL, ONE, TWO
from tests.node.network.policy.world import World, addresses, datagram, header
from tests.node.proxy.namespaces import command, inside, needs_namespaces


def test_only_what_leaves_the_cluster_is_masqueraded() -> None:
    planned = plan(ONE, [ONE, TWO], Configuration(cluster_cidrs=ALL))
    assert planned is not None
    rules = firewall.rules(planned, 4).splitlines()
    chain = [line for line in rules if line.startswith("-A PYB-MASQUERADE-OUT")]
    assert "-A PYB-MASQUERADE -s 10.244.1.0/24 -j PYB-MASQUERADE-OUT" in rules
    assert chain[0].endswith("-d 10.244.0.0/16 -j RETURN") and "MASQUERADE --random-fully" in chain[-1]
    assert "MASQUERADE --random" not in firewall.rules(planned, 4, masquerade=False)
    assert "fd00::/16" in firewall.rules(planned, 6)


def test_nodes_alone_reach_the_overlay_of_a_node() -> None:
    planned = plan(ONE, [ONE, TWO], Configuration(cluster_cidrs=ALL))
    assert planned is not None and planned.overlay is not None
    rules = [line for line in firewall.overlay_rules(planned).splitlines() if line.startswith("add rule")]
    other = TWO.addresses[0]
    assert rules == [
        f"add rule inet PYB-OVERLAY input udp dport 8472 ip saddr != {{ {other} }} counter drop",
        f'add rule inet PYB-OVERLAY forward iifname "veth*" udp dport 8472 ip daddr {{ {other} }} counter drop',
        f"add rule inet PYB-OVERLAY output udp dport 8472 fib saddr type != local ip daddr {{ {other} }} counter drop",
    ]
    alone = plan(ONE, [ONE], Configuration(cluster_cidrs=ALL))
    assert alone is not None and firewall.overlay_rules(alone).splitlines()[-1:] == [
        "add rule inet PYB-OVERLAY input udp dport 8472 counter drop",
    ]  # fmt: skip
    without = plan(ONE, [ONE, TWO], Configuration("host-gw", cluster_cidrs=ALL))
    assert without is not None and firewall.overlay_rules(without).splitlines() == [
        "add table inet PYB-OVERLAY", "delete table inet PYB-OVERLAY",
    ]  # fmt: skip


def test_pods_send_with_their_own_addresses_alone() -> None:
    planned = plan(ONE, [ONE, TWO], Configuration(cluster_cidrs=ALL))
    assert planned is not None
    rules = [line for line in firewall.spoofing_table(planned).splitlines() if line.startswith("add rule")]
    start, end = "add rule inet PYB-SPOOFED prerouting iifname ", "fib saddr . iif oif missing counter drop"
    assert rules == [
        f'{start}"veth*" ip daddr 127.0.0.0/8 counter drop',
        f'{start}"veth*" {end}',
        *(
            f'{start}!= "veth*" {"ip" if network.version == 4 else "ip6"} saddr {network} {end}'
            for network in ONE.ranges
        ),
    ]


def _checksum(header: bytes) -> int:
    total = sum(struct.unpack("!10H", header))
    return ~(total + (total >> 16)) & 0xFFFF


@pytest.mark.slow
@needs_namespaces
def test_pods_do_not_reach_the_loopback_of_their_node() -> None:
    """The link of a pod with a hostPort takes packets to 127.0.0.1, which the plugin portmap needs for their way back."""
    with World() as world:
        with inside(world.name("node")):
            command("sysctl", "-qw", "net.ipv4.conf.veth0.route_localnet=1")
            link = command("ip", "-o", "link", "show", "veth0")
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind(("127.0.0.1", 80))
            server.settimeout(0.3)
        node = bytes.fromhex(link.partition("link/ether ")[2].split()[0].replace(":", ""))
        with inside(world.name(0)):
            client = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            client.bind(("eth0", 0x0800))
        sent = world.packet(addresses(0)[0], "127.0.0.1", "udp", 80)
        start = header(sent, len(datagram(sent)))
        packet = start[:10] + struct.pack("!H", _checksum(start)) + start[12:] + datagram(sent)

        def arrives() -> bool:
            client.sendto(packet, ("eth0", 0x0800, 0, 0, node))
            try:
                return server.recvfrom(64)[1][1] == sent.number
            except TimeoutError:
                return False

        with server, client, inside(world.name("node")):
            assert arrives()
            asyncio.run(firewall.apply_alone())
            assert not arrives()
            asyncio.run(firewall.remove_alone())
            assert arrives()
