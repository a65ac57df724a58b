"""Records of services that are larger than anybody's: they take the time of what can be told of them, and no more."""

from __future__ import annotations

from typing import Any

from pybernetes.node.dns import records, wire
from pybernetes.node.dns.answer_table import AnswerTable

ZONE = wire.name("cluster.local")
OWN = wire.name("web.default.svc.cluster.local")


def ports(count: int) -> list[dict[str, Any]]:
    return [{"name": f"p{number}", "port": number, "protocol": "TCP"} for number in range(1, count + 1)]


def service(address: str, count: int) -> dict[str, Any]:
    return {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"clusterIPs": [address], "ports": ports(count)},
    }


def slice_of(endpoints: int, count: int) -> dict[str, Any]:
    addresses = [f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}" for number in range(endpoints)]
    return {
        "metadata": {},
        "addressType": "IPv4",
        "ports": ports(count),
        "endpoints": [{"addresses": [address]} for address in addresses],
    }


def size(names: records.Records, kind: int) -> int:
    return sum(12 + len(data) for data in names[OWN][kind])


def test_a_name_has_no_more_records_than_a_message_has_room_for() -> None:
    """A Service of 20,000 ports held up whoever shares the event loop for seconds, and with more records ended kube-dns."""
    names = records.of_service(service("10.96.0.9", 20_000), (), ZONE)
    assert size(names, wire.SRV) <= 65535
    assert len(names) < 2 * records.MOST_PORTS
    names = records.of_service(service("None", 1), [slice_of(5000, 0)], ZONE)
    assert 65000 < size(names, wire.A) <= 65535
    table = AnswerTable()
    table.set_service("default/web", names)
    assert table.answers[OWN + bytes((0, 1, 0, 1))]


def test_endpoints_with_too_many_ports_have_addresses_only() -> None:
    few = records.of_service(service("None", 4), [slice_of(1000, 4)], ZONE)
    assert len(few[wire.name("_p4._tcp.web.default.svc.cluster.local")][wire.SRV]) == 1000
    many = records.of_service(service("None", 5000), [slice_of(2, 5000)], ZONE)
    assert len(many[OWN][wire.A]) == 2 and wire.SRV not in many[OWN]
    assert len(many) == 3  # with the names of both endpoints
