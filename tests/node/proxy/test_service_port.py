"""From a Service, its slices and the node to portals: tables."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.proxy.change_tracker import ChangeTracker
from pybernetes.node.proxy.service_port import (
    Node,
    ServicePort,
    Target,
    node_of,
    service_state,
    stale_connections,
)

HERE = Node("here", zone="z1")


def service(name: str = "web", status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A Service of one port."""
    fields = {"clusterIP": "10.96.0.10", "clusterIPs": ["10.96.0.10"],
              "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}  # fmt: skip
    return {
        "metadata": {"namespace": "default", "name": name},
        "spec": {**fields, **spec},
        "status": status or {},
    }


def endpoint(ip: str, node: str = "there", **more: Any) -> dict[str, Any]:
    """An endpoint; what is given besides its address are conditions and hints."""
    hints = {
        key: [{"name": each} for each in more.pop(key)] for key in ("forZones", "forNodes") if key in more
    }
    return {"addresses": [ip], "nodeName": node, "conditions": {"ready": True, "serving": True, **more},
            **({"hints": hints} if hints else {})}  # fmt: skip


def slice_of(*endpoints: dict[str, Any], name: str = "web-1", **more: Any) -> dict[str, Any]:
    """A slice of the Service."""
    labels = {"kubernetes.io/service-name": "web"}
    return {"metadata": {"namespace": "default", "name": name, "labels": labels}, "addressType": "IPv4",
            "endpoints": list(endpoints), "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}], **more}  # fmt: skip


def only(found: dict[str, Any], *slices: dict[str, Any], node: Node = HERE) -> ServicePort:
    (portal,) = service_state(found, slices, node).portals
    return portal


def ips(targets: tuple[Target, ...]) -> list[str]:
    return [each.ip for each in targets]


GONE = {"ready": False, "terminating": True}


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
    portal = only(service(**spec), slice_of(*endpoints))
    assert (ips(portal.cluster), ips(portal.local), portal.exists) == (cluster, local, exists)


@pytest.mark.parametrize(
    "spec",
    [
        {"clusterIP": "None", "clusterIPs": ["None"]},
        {"type": "ExternalName", "externalName": "example.com", "clusterIP": "", "clusterIPs": None},
        {"ports": [{"port": 80, "protocol": "SCTP"}]},
    ],
)
def test_services_that_ask_for_nothing(spec: dict[str, Any]) -> None:
    assert service_state(service(**spec), [slice_of(endpoint("10.0.0.1"))], HERE).portals == ()


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
    http, dns = service_state(two_ports, slices, HERE).portals
    assert http.cluster == (Target("10.0.0.1", 8080), Target("10.0.0.2", 8080, True))
    assert http.serving == frozenset()
    assert dns.cluster == (Target("10.0.0.3", 5353),) and dns.serving == {("10.0.0.3", 5353)}


def test_both_families() -> None:
    both = service(clusterIPs=["10.96.0.10", "fd00:96::10"], externalIPs=["192.0.2.1", "2001:db8::1"])
    four, six = service_state(
        both, [slice_of(endpoint("10.0.0.1")), slice_of(endpoint("fd00::1"), addressType="IPv6")], HERE
    ).portals
    assert (four.family, four.external_ips, str(four.cluster[0])) == (4, ("192.0.2.1",), "10.0.0.1:8080")
    assert (six.family, six.external_ips, str(six.cluster[0])) == (6, ("2001:db8::1",), "[fd00::1]:8080")


def test_load_balancers() -> None:
    ingress = [{"ip": "198.51.100.7"}, {"ip": "198.51.100.8", "ipMode": "Proxy"}, {"hostname": "example.com"}]
    found = service(
        status={"loadBalancer": {"ingress": ingress}}, type="LoadBalancer", externalTrafficPolicy="Local",
        healthCheckNodePort=31000, loadBalancerSourceRanges=[" 203.0.113.0/24", "2001:db8::/32"],
        sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}},
    )  # fmt: skip
    result = service_state(found, [slice_of(endpoint("10.0.0.1", "here"), endpoint("10.0.0.2"))], HERE)
    (portal,) = result.portals
    assert portal.load_balancer_ips == ("198.51.100.7",) and portal.source_ranges == ("203.0.113.0/24",)
    assert portal.affinity_seconds == 60
    assert (result.health_check_port, result.local_ready) == (31000, 1)
    found["spec"]["loadBalancerSourceRanges"].append("0.0.0.0/0")
    assert only(found).source_ranges == ()


def test_stale_connections() -> None:
    dns = ServicePort("kube-system/dns", "dns", "udp", 4, "10.96.0.10", 53, node_port=30053,
                 external_ips=("192.0.2.1",), serving=frozenset({("10.0.0.1", 53)}))  # fmt: skip
    empty = ServicePort("default/empty", "", "udp", 4, "10.96.0.11", 53, node_port=30054)
    tcp = ServicePort("default/tcp", "", "tcp", 4, "10.96.0.12", 53)
    kept = [("10.96.0.10", 53, "10.0.0.1", 53), ("172.30.0.2", 30053, "10.0.0.1", 53), ("9.9.9.9", 53, "9.9.9.9", 53),
            ("172.30.0.2", 30054, "10.0.0.9", 53), ("10.96.0.12", 53, "10.0.0.9", 53)]  # fmt: skip
    stale = [("10.96.0.10", 53, "10.0.0.2", 53), ("192.0.2.1", 53, "10.0.0.2", 53),
             ("172.30.0.2", 30053, "10.0.0.2", 53), ("10.96.0.11", 53, "10.96.0.11", 53)]  # fmt: skip
    assert list(stale_connections([*kept, *stale], [dns, empty, tcp])) == stale


def test_node_of() -> None:
    assert node_of("here", None) == Node("here")
    obj = {
        "metadata": {"name": "here", "labels": {"topology.kubernetes.io/zone": "z1"}},
        "spec": {"podCIDR": "10.244.1.0/24"},
        "status": {"addresses": [{"type": "Hostname", "address": "here"}, {"type": "InternalIP", "address": "172.30.0.2"}]},
    }  # fmt: skip
    assert node_of("here", obj) == Node("here", "z1", ("172.30.0.2",), ("10.244.1.0/24",))


# -- what changes ----------------------------------------------------------------------------------------


def test_tracker_tells_what_changed() -> None:
    tracker = ChangeTracker(HERE)
    first, one = service(), slice_of(endpoint("10.0.0.1"))
    assert tracker.on_slice(None, one) and tracker.on_service(None, first)
    keys, (change,) = tracker.take()
    assert keys == {"default/web"} and change.old is None and change.new is not None
    # What does not matter wakes nobody.
    assert not tracker.on_service(first, {**first, "metadata": {**first["metadata"], "resourceVersion": "2"}})
    assert not tracker.on_slice(one, {**one, "metadata": {**one["metadata"], "resourceVersion": "2"}})
    assert not tracker and tracker.take() == (set(), [])
    two = slice_of(endpoint("10.0.0.1"), endpoint("10.0.0.2"))
    assert tracker.on_slice(one, two)
    _, (change,) = tracker.take()
    assert change.new is not None and ips(change.new.cluster) == ["10.0.0.1", "10.0.0.2"]
    assert tracker.on_slice(two, None)
    _, (change,) = tracker.take()
    assert change.new is not None and not change.new.exists
    renamed = service(ports=[{"name": "other", "port": 80}])
    assert tracker.on_service(first, renamed)
    assert [(bool(old), bool(new)) for old, new in tracker.take()[1]] == [(False, True), (True, False)]
    assert tracker.on_service(renamed, None)
    assert [new for _, new in tracker.take()[1]] == [None] and not list(tracker.portals())


def test_tracker_looks_again_in_another_zone() -> None:
    tracker = ChangeTracker(HERE)
    tracker.on_service(None, service())
    tracker.on_slice(
        None, slice_of(endpoint("10.0.0.1", forZones=["z1"]), endpoint("10.0.0.2", forZones=["z2"]))
    )
    tracker.take()
    assert not tracker.on_node(HERE._replace(addresses=("172.30.0.9",)))
    assert tracker.on_node(HERE._replace(zone="z2"))
    _, (change,) = tracker.take()
    assert change.new is not None and ips(change.new.cluster) == ["10.0.0.2"]
