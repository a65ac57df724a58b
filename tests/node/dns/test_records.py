"""Which records services have, and what is answered to questions about them; read back with dnslib-free code."""

from __future__ import annotations

import ipaddress
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.dns import records, wire
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.config import Configuration, of_machine, parse, server
from pybernetes.node.dns.resolver import Resolver

TYPES = {name: number for number, name in wire.TYPES.items()}


def service(
    name: str, namespace: str = "default", ports: tuple[str, ...] = (), **spec: Any
) -> dict[str, Any]:
    listed = [{"name": each, "protocol": "TCP", "port": 80 + at} for at, each in enumerate(ports)]
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"ports": listed, **spec}}


def slice_of(*endpoints: tuple[str, str, bool], ports: tuple[tuple[str, int], ...] = ()) -> dict[str, Any]:
    return {
        "addressType": "IPv4",
        "ports": [{"name": name, "protocol": "UDP", "port": number} for name, number in ports],
        "endpoints": [
            {"addresses": [address], "conditions": {"ready": ready}, **({"hostname": host} if host else {})}
            for address, host, ready in endpoints
        ],
    }


class Zone:
    """A table with a resolver in front of it."""

    def __init__(self, **options: Any) -> None:
        self.table = AnswerTable()
        self.table.set_namespace("default", True)
        self.resolver = Resolver(self.table, **options)

    def add(self, obj: dict[str, Any], *slices: dict[str, Any]) -> None:
        key = f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
        self.table.set_service(key, records.of_service(obj, slices, self.table.zone))

    def ask(self, name: str, kind: str = "A", datagram: bool = True, size: int = 0) -> tuple[int, list[str]]:
        """The code of the answer, and its records as text."""
        response = self.resolver.respond(question(name, kind, size), datagram)
        assert isinstance(response, bytes)
        return response[3] & 15, texts(response)


def question(name: str, kind: str = "A", size: int = 0, identifier: int = 7) -> bytes:
    head = struct.pack(">HHHHHH", identifier, 0x0100, 1, 0, 0, 1 if size else 0)
    option = b"\0" + struct.pack(">HHIH", wire.OPT, size, 0, 0) if size else b""
    # Not wire.name: that makes lower case of it.
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".") if label)
    return head + labels + b"\0" + struct.pack(">HH", TYPES[kind], 1) + option


def texts(message: bytes) -> list[str]:
    end = wire.read_question(message)[2]
    found = wire.read_records(message, end, int.from_bytes(message[6:8]))[0]
    return sorted(f"{wire.text(each.owner)} {data(each)}" for each in found)


def data(each: wire.Record) -> str:
    if each.type in (wire.A, wire.AAAA):
        return str(ipaddress.ip_address(each.data))
    if each.type == wire.SRV:
        return " ".join(map(str, struct.unpack(">HHH", each.data[:6]))) + " " + wire.text(each.data[6:])
    if each.type == wire.TXT:
        return each.data[1:].decode()
    return wire.text(each.data) if each.type != wire.SOA else "SOA"


NX, OK = wire.NXDOMAIN, wire.NOERROR
WEB = "web.default.svc.cluster.local."
SET = "set.default.svc.cluster.local."


@pytest.fixture
def zone() -> Zone:
    made = Zone(ranges=("10.96.0.0/16", "10.244.0.0/16", "fd00::/16"))
    made.add(service("web", ports=("http", "metrics"), clusterIPs=["10.96.0.7", "fd00::7"]))
    made.add(
        service("set", clusterIPs=["None"]),
        slice_of(("10.244.1.2", "set-0", True), ("10.244.1.3", "", True), ports=(("peer", 7000),)),
        slice_of(("10.244.2.9", "set-9", False)),
    )
    made.add(service("out", type="ExternalName", externalName="www.example.com"))
    made.add(service("inner", type="ExternalName", externalName="web.default.svc.cluster.local"))
    made.add(service("empty", clusterIPs=["None"]))
    return made


@pytest.mark.parametrize(
    ("name", "kind", "code", "wanted"),
    [
        (WEB, "A", OK, [f"{WEB} 10.96.0.7"]),
        (WEB, "AAAA", OK, [f"{WEB} fd00::7"]),
        ("_http._tcp." + WEB, "SRV", OK, [f"_http._tcp.{WEB} 0 100 80 {WEB}"]),
        ("_metrics._tcp." + WEB, "SRV", OK, [f"_metrics._tcp.{WEB} 0 100 81 {WEB}"]),
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
def test_answers(zone: Zone, name: str, kind: str, code: int, wanted: list[str]) -> None:
    for size in (0, 4096):
        assert zone.ask(name, kind, size=size) == (code, wanted)


def test_negative_answers_say_for_how_long(zone: Zone) -> None:
    for name in ("nothing.default.svc.cluster.local", "default.svc.cluster.local"):
        response = zone.resolver.respond(question(name), True)
        assert isinstance(response, bytes) and response[6:10] == b"\0\0\0\1"
        found = wire.read_records(response, wire.read_question(response)[2], 1)[0][0]
        assert found.type == wire.SOA and found.owner == zone.table.zone
        assert found.ttl == int.from_bytes(found.data[-4:]) == 30


def test_the_case_of_the_question_comes_back(zone: Zone) -> None:
    asked = question("wEb.DeFault.SVC.cluster.LOCAL")
    response = zone.resolver.respond(asked, True)
    assert isinstance(response, bytes) and response[12 : len(asked)] == asked[12:]
    assert response[:2] == asked[:2] and response[2] == 0x85 and response[7] == 1


def test_services_come_change_and_go() -> None:
    zone = Zone()
    before = dict(zone.table.answers), dict(zone.table.names)
    for ports in (("a",), ("b", "c"), ()):
        zone.add(service("web", ports=ports, clusterIPs=["10.96.0.7"]))
        assert zone.ask(WEB) == (OK, [f"{WEB} 10.96.0.7"])
        assert zone.ask(f"_a._tcp.{WEB}", "SRV")[0] == (OK if "a" in ports else NX)
    two = slice_of(("10.244.1.2", "h", True))
    zone.add(service("one", clusterIPs=["None"]), two)
    zone.add(service("two", clusterIPs=["None"]), two)
    pointer = "2.1.244.10.in-addr.arpa."
    assert len(zone.ask(pointer, "PTR")[1]) == 2
    zone.table.set_service("default/one", {})
    assert zone.ask(pointer, "PTR")[1] == [f"{pointer} h.two.default.svc.cluster.local."]
    zone.table.set_service("default/two", {})
    zone.table.set_service("default/web", {})
    assert (zone.table.answers, zone.table.names) == before
    zone.table.set_namespace("default", False)
    assert zone.ask("default.svc.cluster.local")[0] == NX


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
        (question("x")[:-1], wire.FORMERR),
        (question("web.default.svc.cluster.local", size=512) + b"x", wire.NXDOMAIN),
        (question("x") + b"rubbish", wire.FORMERR),
    ],
)
def test_what_is_no_question(message: bytes, code: int | None) -> None:
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


@given(st.binary(max_size=120), st.integers(0, 20))
def test_reading_messages_ends(message: bytes, count: int) -> None:
    try:
        wire.read_records(message, 12, count)
    except wire.Malformed:
        pass


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("1.2.3.4", ("1.2.3.4", 53)), ("1.2.3.4:5353", ("1.2.3.4", 5353)), ("::1", ("::1", 53)),
     ("[fd00::1]:54", ("fd00::1", 54))],
)  # fmt: skip
def test_addresses_of_servers(text: str, wanted: tuple[str, int]) -> None:
    assert server(text) == wanted


def test_the_config_map_says_whom_to_ask() -> None:
    own = (("192.0.2.1", 53),)
    found = parse({"stubDomains": '{"acme.local": ["1.2.3.4", "1.2.3.5:54"], "b.acme.local": ["::1"]}'}, own)
    assert found.servers(wire.name("x.acme.local")) == (("1.2.3.4", 53), ("1.2.3.5", 54))
    assert found.servers(wire.name("b.acme.local")) == (("::1", 53),)
    assert found.servers(wire.name("example.com")) == own
    assert parse({"upstreamNameservers": '["8.8.8.8"]'}, own) == Configuration((("8.8.8.8", 53),))
    for data in ({"stubDomains": "[]"}, {"stubDomains": "{"}, {"stubDomains": '{"a": ["name"]}'},
                 {"upstreamNameservers": '"x"'}, {"upstreamNameservers": "1"}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(data))):
            parse(data)


def test_the_machines_own_servers(tmp_path: Any) -> None:
    path = tmp_path / "resolv.conf"
    path.write_text("# x\nnameserver 192.0.2.1\nnameserver fe80::1%eth0\nnameserver bad\nsearch a\n")
    assert of_machine(path) == (("192.0.2.1", 53), ("fe80::1", 53))
    assert of_machine(tmp_path / "none") == ()
