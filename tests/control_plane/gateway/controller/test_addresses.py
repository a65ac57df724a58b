"""Ports of the proxy are kept, and never shared."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.gateway.controller import addresses


@pytest.mark.parametrize(
    ("wanted", "known", "taken", "chosen"),
    [
        ([80, 443], {}, [], {80: 100, 443: 101}),
        ([80, 443], {443: 100}, [], {443: 100, 80: 101}),
        ([80], {80: 102}, [100], {80: 102}),
        ([80], {80: 100}, [100], {80: 101}),  # somebody else has it
        ([80], {80: 9}, [], {80: 100}),  # of another range
    ],
)
def test_ports(wanted: list[int], known: dict[int, int], taken: list[int], chosen: dict[int, int]) -> None:
    assert addresses.choose_ports(wanted, known, taken, range(100, 104)) == chosen


def test_when_no_port_is_left() -> None:
    with pytest.raises(addresses.NoPort, match="100 to 101"):
        addresses.choose_ports([1, 2, 3], {}, [], range(100, 102))


def test_the_service_of_an_entry_remembers_its_ports() -> None:
    service = addresses.service(
        "default/g", {80: 20000}, {"labels": {"app.kubernetes.io/managed-by": "me", "a": "b"}}
    )
    assert addresses.bound_ports(service) == {80: 20000}
    assert service["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "pybernetes-gateway", "a": "b"}
    assert addresses.service_name("default/g") != addresses.service_name("default/h")
    given = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}, {"hostname": "a.example"}, {}]}}}
    assert addresses.addresses(given) == [
        {"type": "IPAddress", "value": "192.0.2.1"},
        {"type": "Hostname", "value": "a.example"},
    ]
    assert addresses.addresses(None) == []
