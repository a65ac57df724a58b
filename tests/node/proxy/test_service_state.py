"""From a Service, its EndpointSlices and the node to ServicePorts: tables."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import ServicePort
from pybernetes.node.proxy.service_state import service_state
from tests.node.proxy.services import HERE, endpoint, ips, service, slice_of


def only(obj: dict[str, Any], *slices: dict[str, Any], node: Node = HERE) -> ServicePort:
    (port,) = service_state(obj, slices, node).ports
    return port


GONE: dict[str, Any] = {"ready": False, "terminating": True}


@pytest.mark.parametrize(
    ("spec", "endpoints", "cluster", "local", "exists"),
    [
        ({}, [], [], [], False),
        ({}, [endpoint("10.0.0.2"), endpoint("10.0.0.1", "here")], ["10.0.0.1", "10.0.0.2"], [], True),
        ({}, [endpoint("10.0.0.1", ready=False, serving=False)], [], [], False),
        # Ready unless it says otherwise.
        ({}, [{"addresses": ["10.0.0.1"]}], ["10.0.0.1"], [], True),
        # Those that are going and still serve are for when there is nobody else.
        ({}, [endpoint("10.0.0.1", **GONE), endpoint("10.0.0.2")], ["10.0.0.2"], [], True),
        ({}, [endpoint("10.0.0.1", **GONE)], ["10.0.0.1"], [], True),
        ({}, [endpoint("10.0.0.1", **GONE, serving=False)], [], [], False),
        # Local traffic within the cluster.
        ({"internalTrafficPolicy": "Local"}, [endpoint("10.0.0.1", "here"), endpoint("10.0.0.2")], [], ["10.0.0.1"], True),
        ({"internalTrafficPolicy": "Local"}, [endpoint("10.0.0.2")], [], [], True),
        ({"internalTrafficPolicy": "Local"}, [endpoint("10.0.0.1", "here", **GONE)], [], ["10.0.0.1"], True),
        # Local traffic from outside; that of this node's pods goes anywhere.
        ({"externalTrafficPolicy": "Local", "externalIPs": ["192.0.2.1"]},
         [endpoint("10.0.0.1", "here"), endpoint("10.0.0.2")], ["10.0.0.1", "10.0.0.2"], ["10.0.0.1"], True),
        ({"externalTrafficPolicy": "Local"}, [endpoint("10.0.0.1", "here")], ["10.0.0.1"], [], True),
        # Hints count if every ready endpoint has one and one is for us.
        ({}, [endpoint("10.0.0.1", forZones=["z1"]), endpoint("10.0.0.2", forZones=["z2"])], ["10.0.0.1"], [], True),
        ({}, [endpoint("10.0.0.1", forZones=["z1"]), endpoint("10.0.0.2")], ["10.0.0.1", "10.0.0.2"], [], True),
        ({}, [endpoint("10.0.0.1", forZones=["z3"])], ["10.0.0.1"], [], True),
        ({}, [endpoint("10.0.0.1", forZones=["z1"], forNodes=["there"]),
              endpoint("10.0.0.2", "here", forZones=["z1"], forNodes=["here"])], ["10.0.0.2"], [], True),
        ({}, [endpoint("10.0.0.1", forZones=["z1"], forNodes=["there"]),
              endpoint("10.0.0.2", forZones=["z2"], forNodes=["there"])], ["10.0.0.1"], [], True),
    ],
)  # fmt: skip
def test_targets(
    spec: dict[str, Any], endpoints: list[dict[str, Any]], cluster: list[str], local: list[str], exists: bool
) -> None:
    port = only(service(**spec), slice_of(*endpoints))
    assert (ips(port.cluster), ips(port.local), port.exists) == (cluster, local, exists)


@pytest.mark.parametrize(
    "spec",
    [
        {"clusterIP": "None", "clusterIPs": ["None"]},
        {"type": "ExternalName", "externalName": "example.com", "clusterIP": "", "clusterIPs": None},
    ],
)
def test_services_that_ask_for_nothing(spec: dict[str, Any]) -> None:
    assert service_state(service(**spec), [slice_of(endpoint("10.0.0.1"))], HERE).ports == ()


def test_slices_are_joined_and_told_apart() -> None:
    two_ports = service(ports=[{"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}])
    slices = [
        slice_of(endpoint("10.0.0.1"), endpoint("10.0.0.2")),
        slice_of(endpoint("10.0.0.2", "here"), name="web-2"),
        slice_of(
            endpoint("10.0.0.3"), name="web-3", ports=[{"name": "dns", "port": 5353, "protocol": "UDP"}]
        ),
        slice_of(endpoint("10.0.0.4"), name="web-4", ports=None),
        slice_of(endpoint("fd00::1"), name="web-6", addressType="IPv6"),
    ]
    http, dns = service_state(two_ports, slices, HERE).ports
    assert http.cluster == (Target("10.0.0.1", 8080), Target("10.0.0.2", 8080, True))
    assert http.serving == frozenset()
    assert dns.cluster == (Target("10.0.0.3", 5353),) and dns.serving == {("10.0.0.3", 5353)}


def test_sctp() -> None:
    ports = [
        {"name": name, "port": 80, "protocol": protocol} for name, protocol in (("w", "TCP"), ("s", "SCTP"))
    ]
    _, signals = service_state(
        service(ports=ports), [slice_of(endpoint("10.0.0.1"), ports=ports)], HERE
    ).ports
    assert (signals.protocol, signals.cluster) == ("sctp", (Target("10.0.0.1", 80),))
    assert signals.serving == {("10.0.0.1", 80)}


def test_both_families() -> None:
    both = service(clusterIPs=["10.96.0.10", "fd00:96::10"], externalIPs=["192.0.2.1", "2001:db8::1"])
    four, six = service_state(
        both, [slice_of(endpoint("10.0.0.1")), slice_of(endpoint("fd00::1"), addressType="IPv6")], HERE
    ).ports
    assert (four.family, four.external_ips, str(four.cluster[0])) == (4, ("192.0.2.1",), "10.0.0.1:8080")
    assert (six.family, six.external_ips, str(six.cluster[0])) == (6, ("2001:db8::1",), "[fd00::1]:8080")


def test_addresses_that_only_other_api_servers_take() -> None:
    """Older ones let in leading zeros, IPv4 written as IPv6 and bits beyond a prefix; nothing of it may stop the others."""
    ingress = [{"ip": "198.051.100.007"}, {"ip": "none"}]
    old = service(
        status={"loadBalancer": {"ingress": ingress}}, clusterIPs=["010.96.0.10"],
        externalIPs=["192.000.002.001", "192.0.2.1", "::ffff:192.0.2.2", "none"],
        loadBalancerSourceRanges=["010.1.2.3/8", "none"],
    )  # fmt: skip
    port = only(
        old,
        slice_of(endpoint("010.0.0.1"), endpoint("::ffff:10.0.0.2"), endpoint("none"), endpoint("fd00::1")),
    )
    assert (port.cluster_ip, port.external_ips) == ("10.96.0.10", ("192.0.2.1", "192.0.2.2"))
    assert (port.load_balancer_ips, port.source_ranges) == (("198.51.100.7",), ("10.0.0.0/8",))
    assert ips(port.cluster) == ["10.0.0.1", "10.0.0.2"]


def test_load_balancers() -> None:
    ingress = [{"ip": "198.51.100.7"}, {"ip": "198.51.100.8", "ipMode": "Proxy"}, {"hostname": "example.com"}]
    balanced = service(
        status={"loadBalancer": {"ingress": ingress}}, type="LoadBalancer", externalTrafficPolicy="Local",
        healthCheckNodePort=31000, loadBalancerSourceRanges=[" 203.0.113.0/24", "2001:db8::/32"],
        sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}},
    )  # fmt: skip
    result = service_state(balanced, [slice_of(endpoint("10.0.0.1", "here"), endpoint("10.0.0.2"))], HERE)
    (port,) = result.ports
    assert port.load_balancer_ips == ("198.51.100.7",) and port.source_ranges == ("203.0.113.0/24",)
    assert port.affinity_seconds == 60
    assert (result.health_check_port, result.local_ready) == (31000, 1)
    balanced["spec"]["loadBalancerSourceRanges"].append("0.0.0.0/0")
    assert only(balanced).source_ranges == ()


@pytest.mark.parametrize(
    ("spec", "endpoints"),
    [
        ({"externalIPs": [f"192.0.{number >> 8}.{number & 255}" for number in range(2000)]}, 1),
        ({"loadBalancerSourceRanges": [f"192.0.2.{number}/32" for number in range(200)]}, 1),
        ({}, 200),
    ],
)
def test_a_service_of_more_rules_than_a_node_can_have_is_left_out(
    spec: dict[str, Any], endpoints: int
) -> None:
    """One Service took minutes on every node, whose pods were then taken for lost: ports times addresses or endpoints."""
    ports = [{"name": f"p{number}", "port": number, "protocol": "TCP"} for number in range(1, 201)]
    slices = [slice_of(*(endpoint(f"10.0.0.{number}") for number in range(1, endpoints + 1)), ports=ports)]
    assert len(service_state(service(ports=ports), (), HERE).ports) == 200
    assert service_state(service(ports=ports, **spec), slices, HERE).ports == ()
