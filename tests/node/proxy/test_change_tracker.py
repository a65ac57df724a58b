"""Which ServicePorts changed."""

from __future__ import annotations

import pytest

from pybernetes.node.proxy.change_tracker import ChangeTracker
from pybernetes.node.proxy.service_state import MOST_RULES
from tests.node.proxy.services import HERE, endpoint, ips, service, slice_of


def test_only_what_changed_is_told() -> None:
    tracker = ChangeTracker(HERE)
    first, first_slice = service(), slice_of(endpoint("10.0.0.1"))
    assert tracker.on_slice(None, first_slice) and tracker.on_service(None, first)
    keys, (change,) = tracker.take()
    assert keys == {"default/web"} and change.old is None and change.new is not None
    # What does not matter wakes nobody.
    assert not tracker.on_service(first, {**first, "metadata": {**first["metadata"], "resourceVersion": "2"}})
    assert not tracker.on_slice(
        first_slice, {**first_slice, "metadata": {**first_slice["metadata"], "resourceVersion": "2"}}
    )
    assert not tracker and tracker.take() == (set(), [])
    two = slice_of(endpoint("10.0.0.1"), endpoint("10.0.0.2"))
    assert tracker.on_slice(first_slice, two)
    _, (change,) = tracker.take()
    assert change.new is not None and ips(change.new.cluster) == ["10.0.0.1", "10.0.0.2"]
    assert tracker.on_slice(two, None)
    _, (change,) = tracker.take()
    assert change.new is not None and not change.new.exists
    renamed = service(ports=[{"name": "other", "port": 80}])
    assert tracker.on_service(first, renamed)
    assert [(bool(old), bool(new)) for old, new in tracker.take()[1]] == [(False, True), (True, False)]
    assert tracker.on_service(renamed, None)
    assert [new for _, new in tracker.take()[1]] == [None] and not list(tracker.service_ports())


def test_every_service_is_looked_at_again_in_another_zone() -> None:
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


def test_it_is_said_which_service_is_too_large(caplog: pytest.LogCaptureFixture) -> None:
    tracker = ChangeTracker(HERE)
    addresses = [f"192.0.{number >> 8}.{number & 255}" for number in range(MOST_RULES)]
    tracker.on_service(None, service(externalIPs=addresses[:5]))
    assert len(tracker.take()[1]) == 1
    tracker.on_service(service(externalIPs=addresses[:5]), service(externalIPs=addresses))
    (change,) = tracker.take()[1]
    assert change.new is None
    assert "the Service default/web is not carried out" in caplog.text


def test_addresses_of_services_and_of_api_servers_are_nobody_elses() -> None:
    """A Service without endpoints that claimed the API server's address took it away from all pods (CVE-2020-8554)."""
    tracker = ChangeTracker(HERE)
    greedy = service(
        "greedy", externalIPs=["10.96.0.53", "192.0.2.1", "198.51.100.7"], clusterIPs=["10.96.0.99"]
    )
    tracker.on_service(None, greedy)

    def claimed() -> tuple[str, ...]:
        tracker.take()
        (port,) = tracker.states["default/greedy"].ports
        return port.external_ips

    assert claimed() == ("10.96.0.53", "192.0.2.1", "198.51.100.7")
    dns = service("dns", clusterIPs=["10.96.0.53"])
    tracker.on_service(None, dns)
    servers = slice_of(endpoint("192.0.2.1"), name="kubernetes", ports=[{"name": "https", "port": 80}])
    servers["metadata"]["labels"] = {"kubernetes.io/service-name": "kubernetes"}
    tracker.on_slice(None, servers)
    assert claimed() == ("198.51.100.7",)
    # On another port the machine of an API server may well have something for others.
    elsewhere = slice_of(endpoint("192.0.2.1"), name="kubernetes", ports=[{"name": "https", "port": 6443}])
    elsewhere["metadata"]["labels"] = servers["metadata"]["labels"]
    tracker.on_slice(servers, elsewhere)
    assert claimed() == ("192.0.2.1", "198.51.100.7")
    tracker.on_slice(elsewhere, servers)
    # Only slices of the API servers' own service say where those are.
    tracker.on_slice(None, slice_of(endpoint("198.51.100.7")))
    assert claimed() == ("198.51.100.7",)
    tracker.on_slice(servers, None)
    tracker.on_service(dns, None)
    assert claimed() == ("10.96.0.53", "192.0.2.1", "198.51.100.7")
    tracker.on_service(greedy, None)
    assert not tracker.take()[1][0].new and not vars(tracker)["_claims"]
