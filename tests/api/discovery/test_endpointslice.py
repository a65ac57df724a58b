from typing import Any

import pytest

from pybernetes.api.discovery import endpointslice
from pybernetes.api.discovery.endpointslice import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, created, row, update_errors, updated


def piece(*addresses: str, kind: str = "IPv4", ports: Any = (), **endpoint: Any) -> Object:
    endpoints = [{"addresses": list(addresses), **endpoint}] if addresses or endpoint else []
    return {"addressType": kind, "endpoints": endpoints, "ports": list(ports)}


WHERE = "endpoints[0].addresses"


def test_defaults() -> None:
    obj = created(RESOURCE, piece("10.0.0.1", ports=[{"port": 80}], deprecatedTopology={"a": "b"}))
    assert obj["ports"] == [{"port": 80, "name": "", "protocol": "TCP"}]
    assert obj["endpoints"] == [{"addresses": ["10.0.0.1"], "conditions": {}}]
    obj = created(RESOURCE, {"addressType": "IPv4"})
    assert (obj["endpoints"], obj["ports"]) == (None, None)
    assert row(RESOURCE, {"addressType": "IPv4"})[1:4] == ["IPv4", "<unset>", "<unset>"]


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({}, ["addressType: Required value"]),
        (piece(kind="X"), ['addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"']),
        (piece(zone="z"), [f"{WHERE}: Required value"]),
        (piece("01.2.3.4"), [f'{WHERE}[0]: Invalid value: "01.2.3.4": must not have leading 0s']),
        (piece("2001:db8::1"), [f'{WHERE}: Invalid value: "2001:db8::1": must be an IPv4 address']),
        (
            piece("127.0.0.1"),
            [
                f'{WHERE}[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'
            ],
        ),
        (
            piece("2001:DB8::1", kind="IPv6"),
            [f'{WHERE}[0]: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'],
        ),
        (
            piece("example", kind="FQDN"),
            [
                f'{WHERE}[0]: Invalid value: "example": '
                "should be a domain with at least two segments separated by dots"
            ],
        ),
        (piece(*["10.0.0.1"] * 101), [f"{WHERE}: Too many: 101: must have at most 100 items"]),
        (
            piece("10.0.0.1", hints={"forZones": [{"name": "a"}, {"name": "a"}]}),
            ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
        ),
        (
            piece(ports=[{}, {}, {"name": "x", "protocol": "Y"}]),
            [
                'ports[1].name: Duplicate value: ""',
                'ports[2].protocol: Unsupported value: "Y": supported values: "SCTP", "TCP", "UDP"',
            ],
        ),
    ],
)
def test_create(obj: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, obj) == expected


def test_update() -> None:
    assert update_errors(RESOURCE, piece(), piece(kind="IPv6")) == [
        "addressType: Invalid value: null: field is immutable"
    ]
    labelled = {**piece(), "metadata": {"labels": {"a": "b"}}}
    assert updated(RESOURCE, piece(), labelled)[0]["metadata"]["generation"] == 2


def test_warnings() -> None:
    assert endpointslice.warnings(created(RESOURCE, piece("a.b", kind="FQDN")), None) == [
        "spec.addressType: FQDN endpoints are deprecated"
    ]


def test_columns() -> None:
    ports = [{"port": 80}, {"name": "web"}, {}, {}]
    addresses = [f"10.0.0.{n}" for n in range(1, 6)]
    assert row(RESOURCE, piece(*addresses, ports=ports)) == [
        "name", "IPv4", "80,web,* + 1 more...", "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...",
    ]  # fmt: skip
    assert row(RESOURCE, piece()) == ["name", "IPv4", "<unset>", "<unset>"]
