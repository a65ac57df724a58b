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


def test_pods_do_not_reach_the_overlay_of_any_node() -> None:
    planned = plan(ONE, [ONE, TWO], Configuration(cluster_cidrs=ALL))
    assert planned is not None and planned.overlay is not None
    rules = firewall.rules(planned, 4).splitlines()
    assert [line for line in rules if line.startswith("-A PYB-OVERLAY")] == [
        "-A PYB-OVERLAY -p udp ! --dport 8472 -j RETURN",
        "-A PYB-OVERLAY -m addrtype --dst-type LOCAL -j DROP",
        f"-A PYB-OVERLAY -d {TWO.addresses[0]} -j DROP",
    ]
    for configuration, version in (
        (Configuration(cluster_cidrs=ALL), 6),
        (Configuration("host-gw", cluster_cidrs=ALL), 4),
    ):
        planned = plan(ONE, [ONE, TWO], configuration)
        assert planned is not None and "-A PYB-OVERLAY" not in firewall.rules(planned, version)
