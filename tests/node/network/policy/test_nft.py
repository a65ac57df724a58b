"""The table in a real kernel: packets between namespaces are held against what policies mean."""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from pybernetes.node.network.policy import nft, objects, rules
from pybernetes.node.network.policy.connections import Connections
from pybernetes.node.network.policy.state import State
from pybernetes.node.network.policy.table import comment
from tests.node.network.policy import clusters
from tests.node.network.policy.model import Model
from tests.node.network.policy.world import OUTSIDE, Sent, World, addresses, datagram, header
from tests.node.proxy.namespaces import inside, needs_namespaces

pytestmark = [pytest.mark.slow, needs_namespaces]
Object = dict[str, Any]
# Ranges of which no pod here has an address: those of other nodes are not known here either.
ELSEWHERE = (ip_network("10.99.0.0/24"), ip_network("fd99::/64"))
OWN = (ip_network("10.0.0.0/25"), ip_network("fd00::/120"))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World() as made:
        yield made


def pod(number: int, **labels: str) -> Object:
    return {
        "metadata": {"namespace": clusters.NAMES[number % 3], "name": f"pod{number}", "labels": labels},
        "spec": {"nodeName": "here", "containers": []},
        "status": {"podIPs": [{"ip": address} for address in addresses(number)]},
    }


def state_of(*policies: Object, pods: tuple[int, ...] = tuple(range(6))) -> State:
    state = State("here", (4, 6))
    for name in clusters.NAMES:
        state.set_namespace(name, {"name": name})
    for number in pods:
        made = objects.pod(pod(number))
        state.set_pod(made.key, made)
    for policy in policies:
        read = rules.network_policy(policy)
        state.set_policy(read.key, read)
    return state


def policy(namespace: str, **spec: Any) -> Object:
    return {"metadata": {"namespace": namespace, "name": "p"}, "spec": {"podSelector": {}, **spec}}


def reaches(
    world: World, source: int, destination: int, protocol: str = "udp", port: int = 80, family: int = 0
) -> bool:
    sent = world.packet(addresses(source)[family], addresses(destination)[family], protocol, port)
    # Whoever may always be reached tells when the packet would have come.
    last = world.packet(addresses(5)[0], addresses(3)[0], "udp", 9)
    world.send(source, sent)
    world.send(5, last)
    return (destination, sent.number) in world.arrivals({last.number})


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(clusters.histories())
def test_the_kernel_does_what_policies_mean(world: World, history: list[tuple[str, Object, bool]]) -> None:
    there: dict[str, dict[str, Object]] = {"pod": {}, "namespace": {}, "policy": {}, "cluster": {}}
    state = State("here", (4, 6))
    world.nft(nft.whole(state.everything(), ELSEWHERE))
    for kind, obj, exists in history:
        key = "/".join(filter(None, (obj["metadata"].get("namespace"), obj["metadata"]["name"])))
        there[kind].pop(key, None)
        if exists:
            there[kind][key] = obj
        if kind == "pod":
            state.set_pod(key, objects.pod(obj) if exists else None)
        elif kind == "namespace":
            state.set_namespace(key, obj["metadata"]["labels"] if exists else None)
        else:
            read = (rules.network_policy if kind == "policy" else rules.cluster_network_policy)(obj)
            state.set_policy(read.key, read if exists else None)
        if changes := state.take():
            world.nft(nft.difference(changes))
    model = Model(*(list(there[kind].values()) for kind in ("pod", "namespace", "policy", "cluster")))

    def allowed(source: str, destination: str, protocol: str, port: int) -> bool:
        return all(
            (owner := model.owner(own)) is None
            or owner["spec"]["nodeName"] != "here"
            or model.direction(direction, source, destination, protocol, port)
            for direction, own in (("egress", source), ("ingress", destination))
        )

    expected: set[tuple[int | str, int]] = set()
    forbidden: set[tuple[int | str, int]] = set()
    for family in (0, 1):
        places: list[tuple[int | str, str]] = [(number, addresses(number)[family]) for number in range(6)]
        places.append(("outside", OUTSIDE[family]))
        for (sender, source), (receiver, destination) in itertools.permutations(places, 2):
            for protocol, port in itertools.product(("tcp", "udp", "sctp"), (80, 81)):
                sent = world.packet(source, destination, protocol, port)
                outcome = expected if allowed(source, destination, protocol, port) else forbidden
                outcome.add((receiver, sent.number))
                world.send(sender, sent)
    came = world.arrivals({number for _, number in expected})
    assert came & forbidden == set()
    assert expected - came == set()


def test_a_pod_is_closed_until_its_rules_are_in(world: World) -> None:
    state = state_of(pods=(1, 2, 3, 4, 5))
    world.nft(nft.whole(state.everything(), OWN))
    for family in (0, 1):
        assert reaches(world, 1, 2, family=family)
        assert not reaches(world, 0, 1, family=family) and not reaches(world, 1, 0, family=family)
    made = objects.pod(pod(0))
    state.set_pod(made.key, made)
    world.nft(nft.difference(state.take()))
    for family in (0, 1):
        assert reaches(world, 0, 1, family=family) and reaches(world, 1, 0, family=family)


def test_nobody_sends_with_the_address_of_another(world: World) -> None:
    world.nft(nft.whole(state_of().everything(), OWN))
    for family in (0, 1):
        for false in (addresses(1)[family], OUTSIDE[family], ("10.77.0.1", "fd77::1")[family]):
            sent = world.packet(false, addresses(2)[family], "udp", 80)
            last = world.packet(addresses(0)[family], addresses(2)[family], "udp", 80)
            world.send(0, sent)
            world.send(0, last)
            assert {number for _, number in world.arrivals({last.number})} == {last.number}
        # Nor does somebody outside send with that of a pod.
        sent = world.packet(addresses(1)[family], addresses(2)[family], "udp", 80)
        last = world.packet(OUTSIDE[family], addresses(2)[family], "udp", 80)
        world.send("outside", sent)
        world.send("outside", last)
        assert {number for _, number in world.arrivals({last.number})} == {last.number}


def test_fragments_and_ports_behind_other_headers_are_judged(world: World) -> None:
    only = policy("z", ingress=[{"ports": [{"protocol": "UDP", "port": 80}]}])
    world.nft(nft.whole(state_of(only).everything(), OWN))
    ways = ((0, world.send_fragments), (1, world.send_fragments), (1, world.send_behind_options))
    for (family, send), (port, passes) in itertools.product(ways, ((80, True), (81, False))):
        sent = world.packet(addresses(0)[family], addresses(2)[family], "udp", port)
        send(0, sent)
        last = world.packet(addresses(3)[0], addresses(4)[0], "udp", 9)
        world.send(3, last)
        assert ((2, sent.number) in world.arrivals({last.number})) is passes


def icmp_error(family: int, about: Sent) -> bytes:
    """Return the message that nobody listens at the port that a packet was for."""
    inner = header(about, len(datagram(about))) + datagram(about)
    start = struct.pack("!BBHI", *((3, 3) if family == socket.AF_INET else (1, 4)), 0, 0)
    words = struct.unpack(f"!{len(start + inner) // 2}H", start + inner)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return start[:2] + struct.pack("!H", ~total & 0xFFFF) + start[4:] + inner


def test_errors_about_connections_of_others_are_judged(world: World) -> None:
    """Nobody who may send nothing tells others something by inventing errors; about what came to it a pod does answer."""
    world.nft(nft.whole(state_of(policy("x", policyTypes=["Egress"])).everything(), OWN))
    families = (
        (socket.AF_INET, socket.IPPROTO_ICMP, 0),
        (socket.AF_INET6, socket.IPPROTO_ICMPV6, 1),
    )
    for family, protocol, which in families:
        with inside(world.name(1)):
            listener = socket.socket(family, socket.SOCK_RAW, protocol)
            listener.settimeout(10)
            asking = socket.socket(family, socket.SOCK_DGRAM)
        about = world.packet(addresses(1)[which], OUTSIDE[which], "udp", 9)
        with inside(world.name(0)):
            sender = socket.socket(family, socket.SOCK_RAW, protocol)
        world.send(1, about)
        world.arrivals({about.number})
        sender.sendto(icmp_error(family, about), (addresses(1)[which], 0))
        # Nobody listens at that port of the pod, so that its kernel says so.
        asking.sendto(b"is anybody there?", (addresses(0)[which], 9))
        received = b""
        while b"is anybody there?" not in received:
            received, sender_address = listener.recvfrom(512)
            told = struct.pack("!HH", about.number, 9) in received  # as the one to whom it went may do
            assert not told or sender_address[0] != addresses(0)[which]
        for opened in (listener, sender, asking):
            opened.close()


def test_a_connection_that_was_made_goes_on_and_answers_come_back(world: World) -> None:
    state = state_of(policy("y", policyTypes=["Ingress", "Egress"], ingress=[{}], egress=[]))
    world.nft(nft.whole(state.everything(), OWN))
    for family, target in ((socket.AF_INET, addresses(1)[0]), (socket.AF_INET6, addresses(1)[1])):
        with inside(world.name(1)):
            server = socket.create_server((target, 8080), family=family)
        with inside(world.name(0)):
            client = socket.create_connection((target, 8080), timeout=10)
        accepted, _ = server.accept()
        closed = rules.network_policy(policy("y", policyTypes=["Ingress", "Egress"]))
        state.set_policy(closed.key, closed)
        world.nft(nft.difference(state.take()))
        client.sendall(b"still")
        accepted.settimeout(10)
        assert accepted.recv(16) == b"still"
        accepted.sendall(b"here")
        assert client.recv(16) == b"here"
        assert not reaches(world, 0, 1, "tcp", 8080)
        for opened in (client, accepted, server):
            opened.close()
        again = rules.network_policy(policy("y", policyTypes=["Ingress", "Egress"], ingress=[{}], egress=[]))
        state.set_policy(again.key, again)
        world.nft(nft.difference(state.take()))


async def test_who_keeps_a_connection_up_does_not_reach_the_next_pod_of_the_address(world: World) -> None:
    """Neither over UDP nor, where only the kernel remembers it, over TCP."""
    only = policy("y", ingress=[{"from": [{"podSelector": {}}]}])
    state, connections = state_of(policy("y", ingress=[{}])), Connections()
    world.nft(nft.whole(state.everything(), OWN))
    families = (
        (socket.AF_INET, addresses(0)[0], addresses(1)[0]),
        (socket.AF_INET6, addresses(0)[1], addresses(1)[1]),
    )
    kinds = (socket.SOCK_DGRAM, socket.SOCK_STREAM)
    made = []
    for (family, source, target), kind in itertools.product(families, kinds):
        with inside(world.name(1)):
            server = socket.socket(family, kind)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((target, 8081))
        with inside(world.name(0)):
            client = socket.socket(family, kind)
            client.bind((source, 8082))
        if kind == socket.SOCK_STREAM:
            server.listen()
            client.connect((target, 8081))
            accepted = server.accept()[0]
        else:
            client.sendto(b"question", (target, 8081))
            server.sendto(b"answer", server.recvfrom(64)[1])
            assert client.recv(64) == b"answer"
            accepted = server
        made.append((client, accepted, server))
    read = rules.network_policy(only)
    state.set_policy(read.key, read)
    world.nft(nft.difference(state.take()))
    numbers = itertools.product((0, 1), ("udp", "tcp"))
    packets = [
        world.packet(addresses(0)[family], addresses(1)[family], protocol, 8081)._replace(number=8082)
        for family, protocol in numbers
    ]
    gone = objects.pod(pod(1))
    state.set_pod(gone.key, None)
    world.nft(nft.difference(state.take()))
    for next_one in (False, True):
        if next_one:
            other = gone._replace(name="other", uid="2")
            state.set_pod(other.key, other)
            world.nft(nft.difference(state.take()))
        passed_on = state.passed_on()
        assert passed_on == (set() if next_one else set(addresses(1)))
        with inside(world.name("node")):
            connections.forget(passed_on)
            await connections.forgotten(passed_on)
        world.arrivals(set())  # of what was sent before
        for sent in packets:
            last = world.packet(addresses(5)[0], addresses(3)[0], "udp", 9)
            world.send(0, sent)
            world.send(5, last)
            assert (1, sent.number) not in world.arrivals({last.number}), sent
    await connections.close()
    for opened in itertools.chain(*made):
        opened.close()


def test_a_service_is_judged_by_the_pod_behind_it_and_a_pod_reaches_itself(world: World) -> None:
    """Addresses of services are gone when policies are asked; a pod behind its own service is not cut off."""
    only = policy("z", ingress=[{"from": [{"namespaceSelector": {"matchLabels": {"name": "x"}}}]}])
    world.nft(nft.whole(state_of(only).everything(), OWN))
    service = "10.96.0.1"
    world.nft(
        "add table ip services\ndelete table ip services\nadd table ip services\n"
        "add chain ip services in { type nat hook prerouting priority dstnat ; }\n"
        "add chain ip services out { type nat hook postrouting priority srcnat ; }\n"
        f"add rule ip services in ip daddr {service} dnat to {addresses(2)[0]}\n"
        f"add rule ip services out ip saddr {addresses(2)[0]} ip daddr {addresses(2)[0]} masquerade\n"
    )
    try:
        for source, passes in ((0, True), (1, False), (2, True)):
            sent = world.packet(addresses(source)[0], service, "udp", 80)
            last = world.packet(addresses(3)[0], addresses(4)[0], "udp", 9)
            world.send(source, sent)
            world.send(3, last)
            numbers = {number for who, number in world.arrivals({last.number}) if who == 2}
            assert (sent.number in numbers) is passes, source
    finally:
        world.nft("delete table ip services\n")


def test_the_table_goes(world: World) -> None:
    world.nft(nft.removal())
    world.nft(nft.removal())
    assert reaches(world, 0, 1)


def test_no_name_of_a_rule_gets_into_the_text() -> None:
    assert comment('x" drop ; flush ruleset\n') == "x_ drop _ flush ruleset_"
    hostile = {
        "metadata": {"namespace": "x", "name": "p"},
        "status": {"podIPs": [{"ip": "fe80::1%} flush"}, {"ip": "}"}]},
    }
    assert objects.pod(hostile).addresses == ()
