"""What a node's kernel has to know, from Node objects."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.network import cni, firewall
from pybernetes.node.network.plan import Configuration, Peer, Route, mac, peer, plan


def node(name: str, *ranges: str, addresses: tuple[str, ...] = ()) -> dict[str, Any]:
    listed = [{"type": "Hostname", "address": name}]
    listed += [{"type": "InternalIP", "address": each} for each in addresses]
    return {"metadata": {"name": name}, "spec": {"podCIDRs": list(ranges)}, "status": {"addresses": listed}}


ONE = peer(node("one", "10.244.1.0/24", "fd00:1::/64", addresses=("192.0.2.1", "2001:db8::1")))
TWO = peer(node("two", "10.244.2.0/24", "fd00:2::/64", addresses=("192.0.2.2", "2001:db8::2")))
ALL = ("10.244.0.0/16", "fd00::/16")


def test_a_node_is_read_and_nonsense_in_it_left_out() -> None:
    assert (
        Peer(
            "one",
            (ip_network("10.244.1.0/24"), ip_network("fd00:1::/64")),
            (ip_address("192.0.2.1"), ip_address("2001:db8::1")),
        )
        == ONE
    )
    assert peer({"metadata": {"name": "x"}, "spec": {"podCIDR": "10.0.0.0/24"}}).ranges == (
        ip_network("10.0.0.0/24"),
    )
    assert peer(node("x", "nonsense", addresses=("also",))) == Peer("x", (), ())


def test_an_overlay_leads_to_the_devices_of_the_peers() -> None:
    found = plan(ONE, [ONE, TWO], Configuration(cluster_cidrs=ALL), 1500)
    assert found is not None and found.overlay is not None
    assert found.mtu == 1450 and found.overlay.mac == mac("one")
    assert found.overlay.addresses == {ip_address("10.244.1.0"), ip_address("fd00:1::")}
    assert found.overlay.forwarding == {(mac("two"), ip_address("192.0.2.2"))}
    assert found.overlay.neighbours == {
        (ip_address("10.244.2.0"), mac("two")),
        (ip_address("fd00:2::"), mac("two")),
    }
    assert found.routes == {
        Route(ip_network("10.244.0.0/16")),
        Route(ip_network("fd00::/16")),
        Route(ip_network("10.244.2.0/24"), ip_address("10.244.2.0"), overlay=True),
        Route(ip_network("fd00:2::/64"), ip_address("fd00:2::"), overlay=True),
    }


def test_gateways_are_the_peers_themselves() -> None:
    found = plan(ONE, [ONE, TWO], Configuration("host-gw", cluster_cidrs=ALL), 1500)
    assert found is not None and found.overlay is None and found.mtu == 1500
    assert Route(ip_network("10.244.2.0/24"), ip_address("192.0.2.2")) in found.routes
    assert Route(ip_network("fd00:2::/64"), ip_address("2001:db8::2")) in found.routes


def test_what_can_not_be_joined_is_told() -> None:
    other = peer(node("old", "10.244.3.0/24", addresses=("2001:db8::3",)))
    for backend in ("vxlan", "host-gw"):
        found = plan(ONE, [other], Configuration(backend))
        assert found is not None and "the node old has no address" in found.problems[0]
    assert plan(peer(node("new", addresses=("192.0.2.9",))), [TWO], Configuration()) is None
    assert plan(peer(node("new", "10.244.9.0/24")), [TWO], Configuration()) is None
    with pytest.raises(ValueError, match="there is no backend 'tunnel'"):
        Configuration("tunnel")


def test_without_a_range_of_the_cluster_those_of_the_nodes_lead_nowhere_else() -> None:
    found = plan(ONE, [ONE, TWO], Configuration("host-gw"))
    assert found is not None
    assert {each.destination for each in found.routes if each.unreachable} == {*ONE.ranges, *TWO.ranges}


@given(st.lists(st.integers(0, 255), unique=True, max_size=8), st.sampled_from(["vxlan", "host-gw"]))
def test_every_range_has_one_way_and_never_the_default_route(numbers: list[int], backend: str) -> None:
    peers = [peer(node(f"n{n}", f"10.1.{n}.0/24", addresses=(f"192.0.2.{n % 254 + 1}",))) for n in numbers]
    found = plan(ONE, peers, Configuration(backend))
    assert found is not None
    ways = [each.destination for each in found.routes if not each.unreachable]
    assert sorted(map(str, ways)) == sorted(str(each.ranges[0]) for each in peers)
    dead = {each.destination for each in found.routes if each.unreachable}
    assert dead == {*ONE.ranges, *ways}


def test_macs_are_local_unicast_and_differ() -> None:
    macs = {mac(f"node-{number}") for number in range(1000)}
    assert len(macs) == 1000 and all(int(each[:2], 16) & 3 == 2 for each in macs)


def test_only_what_leaves_the_cluster_is_masqueraded() -> None:
    found = plan(ONE, [ONE, TWO], Configuration(cluster_cidrs=ALL))
    assert found is not None
    rules = firewall.rules(found, 4).splitlines()
    chain = [line for line in rules if line.startswith("-A PYB-MASQUERADE-OUT")]
    assert "-A PYB-MASQUERADE -s 10.244.1.0/24 -j PYB-MASQUERADE-OUT" in rules
    assert chain[0].endswith("-d 10.244.0.0/16 -j RETURN") and "MASQUERADE --random-fully" in chain[-1]
    assert "MASQUERADE --random" not in firewall.rules(found, 4, masquerade=False)
    assert "fd00::/16" in firewall.rules(found, 6)


def test_the_cni_configuration_says_what_the_plan_does() -> None:
    made = cni.configuration(["10.244.1.0/24", "fd00:1::/64"], mtu=1450)
    main, ports = made["plugins"]
    assert main["mtu"] == 1450 and main["ipMasq"] is False and ports["capabilities"] == {"portMappings": True}
    assert main["ipam"]["ranges"] == [[{"subnet": "10.244.1.0/24"}], [{"subnet": "fd00:1::/64"}]]
