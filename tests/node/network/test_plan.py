"""What a node's kernel has to know, from Node objects."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.network.plan import Configuration, Peer, Route, mac, peer, plan
from tests.node.network.peers import ALL, ONE, TWO, node


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
    planned = plan(ONE, [ONE, TWO], Configuration(cluster_cidrs=ALL), 1500)
    assert planned is not None and planned.overlay is not None
    assert planned.mtu == 1450 and planned.overlay.mac == mac("one")
    assert planned.overlay.addresses == {ip_address("10.244.1.0"), ip_address("fd00:1::")}
    assert planned.overlay.forwarding == {(mac("two"), ip_address("192.0.2.2"))}
    assert planned.overlay.neighbours == {
        (ip_address("10.244.2.0"), mac("two")),
        (ip_address("fd00:2::"), mac("two")),
    }
    assert planned.routes == {
        Route(ip_network("10.244.0.0/16")),
        Route(ip_network("fd00::/16")),
        Route(ip_network("10.244.2.0/24"), ip_address("10.244.2.0"), overlay=True),
        Route(ip_network("fd00:2::/64"), ip_address("fd00:2::"), overlay=True),
    }


def test_gateways_are_the_peers_themselves() -> None:
    planned = plan(ONE, [ONE, TWO], Configuration("host-gw", cluster_cidrs=ALL), 1500)
    assert planned is not None and planned.overlay is None and planned.mtu == 1500
    assert Route(ip_network("10.244.2.0/24"), ip_address("192.0.2.2")) in planned.routes
    assert Route(ip_network("fd00:2::/64"), ip_address("2001:db8::2")) in planned.routes


def test_a_cloud_makes_the_routes_itself() -> None:
    planned = plan(ONE, [ONE, TWO], Configuration("cloud", cluster_cidrs=ALL), 1500)
    assert planned is not None and planned.overlay is None and planned.mtu == 1500 and not planned.problems
    assert all(route.unreachable for route in planned.routes)


def test_what_can_not_be_joined_is_told() -> None:
    other = peer(node("old", "10.244.3.0/24", addresses=("2001:db8::3",)))
    for backend in ("vxlan", "host-gw"):
        planned = plan(ONE, [other], Configuration(backend))
        assert planned is not None and "the node old has no address" in planned.problems[0]
    assert plan(peer(node("new", addresses=("192.0.2.9",))), [TWO], Configuration()) is None
    assert plan(peer(node("new", "10.244.9.0/24")), [TWO], Configuration()) is None
    with pytest.raises(ValueError, match="there is no backend 'tunnel'"):
        Configuration("tunnel")


def test_without_a_range_of_the_cluster_those_of_the_nodes_lead_nowhere_else() -> None:
    planned = plan(ONE, [ONE, TWO], Configuration("host-gw"))
    assert planned is not None
    assert {route.destination for route in planned.routes if route.unreachable} == {*ONE.ranges, *TWO.ranges}


@given(st.lists(st.integers(0, 255), unique=True, max_size=8), st.sampled_from(["vxlan", "host-gw"]))
def test_every_range_has_one_way_and_never_the_default_route(numbers: list[int], backend: str) -> None:
    peers = [peer(node(f"n{n}", f"10.1.{n}.0/24", addresses=(f"192.0.2.{n % 254 + 1}",))) for n in numbers]
    planned = plan(ONE, peers, Configuration(backend))
    assert planned is not None
    ways = [route.destination for route in planned.routes if not route.unreachable]
    assert sorted(map(str, ways)) == sorted(str(peer_node.ranges[0]) for peer_node in peers)
    dead = {route.destination for route in planned.routes if route.unreachable}
    assert dead == {*ONE.ranges, *ways}


def test_macs_are_local_unicast_and_differ() -> None:
    macs = {mac(f"node-{number}") for number in range(1000)}
    assert len(macs) == 1000 and all(int(address[:2], 16) & 3 == 2 for address in macs)
