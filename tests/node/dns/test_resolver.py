"""What is answered to questions about services and pods."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.dns import wire
from tests.node.dns.zone import NX, OK, SET, WEB, Zone, question, service, slice_of, texts


@pytest.fixture
def zone() -> Zone:
    zone = Zone(ranges=("10.96.0.0/16", "10.244.0.0/16", "fd00::/16"))
    zone.add(service("web", ports=("http", "metrics"), clusterIPs=["10.96.0.7", "fd00::7"]))
    zone.add(
        service("set", clusterIPs=["None"]),
        slice_of(("10.244.1.2", "set-0", True), ("10.244.1.3", "", True), ports=(("peer", 7000),)),
        slice_of(("10.244.2.9", "set-9", False)),
    )
    zone.add(service("out", type="ExternalName", externalName="www.example.com"))
    zone.add(service("inner", type="ExternalName", externalName="web.default.svc.cluster.local"))
    zone.add(service("empty", clusterIPs=["None"]))
    return zone


@pytest.mark.parametrize(
    ("name", "kind", "code", "expected"),
    [
        (WEB, "A", OK, [f"{WEB} 10.96.0.7"]),
        (WEB, "AAAA", OK, [f"{WEB} fd00::7"]),
        ("_http._tcp." + WEB, "SRV", OK, [f"_http._tcp.{WEB} 0 100 80 {WEB}"]),
        ("_metrics._tcp." + WEB, "SRV", OK, [f"_metrics._tcp.{WEB} 0 100 81 {WEB}"]),
        (WEB, "SRV", OK, [f"{WEB} 0 50 80 {WEB}", f"{WEB} 0 50 81 {WEB}"]),
        ("_http._udp." + WEB, "SRV", NX, []),
        ("_tcp." + WEB, "SRV", OK, []),
        ("7.0.96.10.in-addr.arpa.", "PTR", OK, [f"7.0.96.10.in-addr.arpa. {WEB}"]),
        ("8.0.96.10.in-addr.arpa.", "PTR", NX, []),
        (SET, "A", OK, [f"{SET} 10.244.1.2", f"{SET} 10.244.1.3"]),
        (SET, "SRV", OK, [f"{SET} 0 50 7000 10-244-1-3.{SET}", f"{SET} 0 50 7000 set-0.{SET}"]),
        ("set-0." + SET, "A", OK, [f"set-0.{SET} 10.244.1.2"]),
        ("10-244-1-3." + SET, "A", OK, [f"10-244-1-3.{SET} 10.244.1.3"]),
        ("set-9." + SET, "A", NX, []),
        ("_peer._udp." + SET, "SRV", OK,
         [f"_peer._udp.{SET} 0 50 7000 10-244-1-3.{SET}", f"_peer._udp.{SET} 0 50 7000 set-0.{SET}"]),
        ("2.1.244.10.in-addr.arpa.", "PTR", OK, [f"2.1.244.10.in-addr.arpa. set-0.{SET}"]),
        ("3.1.244.10.in-addr.arpa.", "PTR", NX, []),
        ("out.default.svc.cluster.local.", "CNAME", OK, ["out.default.svc.cluster.local. www.example.com."]),
        ("empty.default.svc.cluster.local.", "A", NX, []),
        ("10-1-2-3.default.pod.cluster.local.", "A", OK, ["10-1-2-3.default.pod.cluster.local. 10.1.2.3"]),
        ("10-1-2-3.default.pod.cluster.local.", "AAAA", OK, []),
        ("fd00--1.default.pod.cluster.local.", "AAAA", OK, ["fd00--1.default.pod.cluster.local. fd00::1"]),
        ("10-1-2-3.nowhere.pod.cluster.local.", "A", NX, []),
        ("10-1-2-999.default.pod.cluster.local.", "A", NX, []),
        ("x.default.pod.cluster.local.", "A", NX, []),
        ("default.svc.cluster.local.", "A", OK, []),
        ("default.pod.cluster.local.", "A", OK, []),
        ("svc.cluster.local.", "A", OK, []),
        ("nowhere.svc.cluster.local.", "A", NX, []),
        ("web.nowhere.svc.cluster.local.", "A", NX, []),
        ("cluster.local.", "NS", OK, ["cluster.local. kube-dns.kube-system.svc.cluster.local."]),
        ("cluster.local.", "SOA", OK, ["cluster.local. SOA"]),
        ("dns-version.cluster.local.", "TXT", OK, ["dns-version.cluster.local. 1.1.0"]),
        (WEB, "MX", OK, []),
        (WEB, "HTTPS", OK, []),
        ("www.example.com.", "A", wire.REFUSED, []),
    ],
)  # fmt: skip
def test_answers(zone: Zone, name: str, kind: str, code: int, expected: list[str]) -> None:
    for size in (0, 4096):
        assert zone.ask(name, kind, size=size) == (code, expected)


def test_negative_answers_say_for_how_long(zone: Zone) -> None:
    for name in ("nothing.default.svc.cluster.local", "default.svc.cluster.local"):
        response = zone.resolver.respond(question(name), True)
        assert isinstance(response, bytes) and response[6:10] == b"\0\0\0\1"
        record = wire.read_records(response, wire.read_question(response)[2], 1)[0][0]
        assert record.type == wire.SOA and record.owner == zone.table.zone
        assert record.ttl == int.from_bytes(record.data[-4:]) == 30


def test_the_case_of_the_question_comes_back(zone: Zone) -> None:
    asked = question("wEb.DeFault.SVC.cluster.LOCAL")
    response = zone.resolver.respond(asked, True)
    assert isinstance(response, bytes) and response[12 : len(asked)] == asked[12:]
    assert response[:2] == asked[:2] and response[2] == 0x85 and response[7] == 1


def test_long_answers_are_cut_over_udp_only() -> None:
    zone = Zone()
    many = [(f"10.244.{at // 250}.{at % 250 + 1}", "", True) for at in range(200)]
    zone.add(service("set", clusterIPs=["None"]), slice_of(*many))
    for size, limit in ((0, 512), (800, 800), (4096, wire.UDP_SIZE)):
        response = zone.resolver.respond(question(SET, size=size), True)
        assert isinstance(response, bytes) and response[2] & 2 and len(response) <= limit
        assert len(texts(response)) > (limit - 80) // 16 - 2
    assert len(zone.ask(SET, datagram=False)[1]) == 200


def test_addresses_take_turns() -> None:
    zone = Zone()
    zone.add(
        service("set", clusterIPs=["None"]), slice_of(*[(f"10.0.0.{at}", "", True) for at in range(1, 5)])
    )
    firsts = set()
    for _ in range(200):
        response = zone.resolver.respond(question(SET), True)
        assert isinstance(response, bytes)
        firsts.add(wire.read_records(response, wire.read_question(response)[2], 1)[0][0].data)
    assert len(firsts) == 4


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"", None),
        (b"\0\7\x81\x80" + bytes(8), None),  # an answer
        (b"\0\7\x01\x00" + bytes(8), wire.FORMERR),  # no question
        (b"\0\7\x29\x00" + question("x")[4:], wire.NOTIMP),  # an update
        (b"\0\7\x01\x00" + b"\xff" * 8 + question("x")[12:], wire.FORMERR),  # more entries than there are
        (question("x")[:-1], wire.FORMERR),
        (question("web.default.svc.cluster.local", size=512) + b"x", wire.NXDOMAIN),
        (question("x") + b"rubbish", wire.FORMERR),
    ],
)
def test_what_is_no_question(message: bytes, code: int | None) -> None:
    """CVE-2026-86003, CVE-2026-82399: it is passed on to nobody, and counts of records are not believed."""
    response = Zone().resolver.respond(message, True)
    assert (response if response is None else response[3] & 15) == code  # type: ignore[index]


def test_types_that_somebody_makes_up_take_no_memory(zone: Zone) -> None:
    start = question(WEB)[:-4]
    for number in range(2000):
        zone.resolver.respond(start + struct.pack(">HH", number, number), True)
    assert len(zone.resolver.metrics.types) <= 257 and sum(zone.resolver.metrics.types.values()) == 2000


def test_an_unknown_version_of_edns_is_refused(zone: Zone) -> None:
    asked = bytearray(question(WEB, size=1232))
    asked[-5] = 1
    response = zone.resolver.respond(bytes(asked), True)
    assert isinstance(response, bytes) and response[-6:-5] == b"\1" and response[6:8] == b"\0\0"


@given(st.binary(max_size=80))
def test_nothing_that_is_sent_breaks_the_server(message: bytes) -> None:
    zone = Zone()
    response = zone.resolver.respond(message, True)
    assert response is None or isinstance(response, bytes)
    response = zone.resolver.respond(b"\0\1\1\0\0\1\0\0\0\0\0\0" + message, True)
    assert response is None or isinstance(response, bytes)


def test_addresses_that_only_other_api_servers_take() -> None:
    """Older ones let in leading zeros and IPv4 written as IPv6; what is no address at all has no name."""
    zone = Zone()
    zone.add(service("web", clusterIPs=["010.96.0.07", "none"]))
    zone.add(
        service("set", clusterIPs=["None"]),
        slice_of(("010.244.1.2", "", True), ("::ffff:10.244.1.3", "", True), ("none", "", True)),
    )
    assert zone.ask(WEB) == (OK, [f"{WEB} 10.96.0.7"])
    assert zone.ask(SET) == (OK, [f"{SET} 10.244.1.2", f"{SET} 10.244.1.3"])
    assert zone.ask("10-244-1-2." + SET) == (OK, [f"10-244-1-2.{SET} 10.244.1.2"])
