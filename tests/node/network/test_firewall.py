"""What the packet filter does to the traffic of pods."""

from pybernetes.node.network import firewall
from pybernetes.node.network.plan import Configuration, plan
from tests.node.network.peers import ALL, ONE, TWO


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
        f'{start}"veth*" {end}',
        *(
            f'{start}!= "veth*" {"ip" if network.version == 4 else "ip6"} saddr {network} {end}'
            for network in ONE.ranges
        ),
    ]
