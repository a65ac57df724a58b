"""Plugins of a few lines: acl, any, whoami, minimal, autopath, log, errors, loadbalance."""

from __future__ import annotations

import logging
import struct
from pathlib import Path

import pytest

from pybernetes.node.dns import wire
from pybernetes.node.dns.cluster_names import ClusterNames, NameOptions
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugins.loadbalance import shuffled
from pybernetes.node.dns.wire import Record
from tests.node.dns.chains import answers, ask, cluster_names, environment, resolver

WEB = "web.default.svc.cluster.local"
KUBERNETES = "kubernetes cluster.local in-addr.arpa"


@pytest.mark.parametrize(
    ("rule", "client", "code"),
    [
        ("block net 192.0.2.0/24", "192.0.2.1", wire.REFUSED),
        ("block net 192.0.2.0/24", "::ffff:192.0.2.1", wire.REFUSED),
        ("block net 192.0.2.0/24", "198.51.100.1", wire.NOERROR),
        ("block type AAAA", "192.0.2.1", wire.NOERROR),
        ("filter type A net *", "192.0.2.1", wire.NOERROR),
        ("drop", "192.0.2.1", -1),
        ("allow net 192.0.2.1\n block", "192.0.2.1", wire.NOERROR),
        ("allow net 192.0.2.1\n block", "192.0.2.2", wire.REFUSED),
    ],
)
async def test_who_may_ask(rule: str, client: str, code: int) -> None:
    got, records = await answers(f". {{\n acl {{\n {rule}\n }}\n {KUBERNETES}\n}}", WEB, client=client)
    assert got == code
    assert bool(records) == (code == wire.NOERROR and not rule.startswith("filter"))


async def test_whoami_and_any() -> None:
    assert (await answers(". {\n whoami\n}", "x.example", client="2001:db8::7"))[0] == wire.NOERROR
    code, records = await answers(". {\n any\n}", "x.example", "ANY")
    assert code == wire.NOERROR and len(records) == 1
    response = resolver(". {\n whoami\n}").respond(
        struct.pack(">HHHHHH", 1, 256, 1, 0, 0, 0) + b"\0" + struct.pack(">HH", 1, 1), True, ("192.0.2.3", 77)
    )
    message = Message.read(await response)  # type: ignore[misc]
    assert [record.data[-4:] for record in message.extras if record.type == wire.A] == [bytes([192, 0, 2, 3])]


async def test_zones_are_given_to_nobody() -> None:
    for kind in ("AXFR", "IXFR"):
        for more in ("", "log\n", "whoami\n"):
            text = f". {{\n {more} {KUBERNETES}\n}}"
            assert await answers(text, "cluster.local", kind) == (wire.REFUSED, [])


async def test_the_search_path_of_a_pod_is_gone_through_at_once(tmp_path: Path) -> None:
    class Names(ClusterNames):
        def namespace_of(self, address: str) -> str | None:
            return "default" if address == "10.244.0.9" else None

    def names(options: NameOptions) -> ClusterNames:
        made = cluster_names(options)
        made.__class__ = Names
        return made

    place = environment()
    place.cluster = names
    hosts = tmp_path / "hosts"
    hosts.write_text("192.0.2.5 www.example.com\n")
    text = f". {{\n autopath @kubernetes\n hosts {hosts} {{\n fallthrough\n }}\n {KUBERNETES} {{\n pods verified\n }}\n}}"
    asked = "www.example.com.default.svc.cluster.local"
    assert await ask(resolver(text, place), asked, client="10.244.0.9") == (
        wire.NOERROR, ["www.example.com. 192.0.2.5", f"{asked}. www.example.com."]
    )  # fmt: skip
    assert (await ask(resolver(text, place), asked, client="192.0.2.1"))[0] == wire.NXDOMAIN  # no pod
    assert await ask(resolver(text, place), WEB, client="10.244.0.9") == (wire.NOERROR, [f"{WEB}. 10.96.0.7"])


async def test_what_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    text = (
        f'. {{\n log . "{{remote}} {{name}} {{type}} {{rcode}} {{/log/class}} {{nothing}}"\n {KUBERNETES}\n}}'
    )
    await answers(text, WEB, client="2001:db8::1")
    assert caplog.messages[-1] == f"[2001:db8::1] {WEB}. A NOERROR success {{nothing}}"
    await answers(text, 'a"b\nc.cluster.local')
    assert caplog.messages[-1] == "127.0.0.1 a\\034b\\010c.cluster.local. A NXDOMAIN denial {nothing}"
    count = len(caplog.messages)
    await answers(f". {{\n log {{\n class denial\n }}\n {KUBERNETES}\n}}", WEB)
    await answers(f". {{\n log example.org\n {KUBERNETES}\n}}", WEB)
    assert len(caplog.messages) == count
    await answers(f". {{\n log\n {KUBERNETES}\n}}", WEB)
    assert caplog.messages[-1].startswith(
        f'127.0.0.1:5353 - 7 "A IN {WEB}. udp 47 false 512" NOERROR qr,aa,ra'
    )


async def test_errors_are_logged_and_counted_together(caplog: pytest.LogCaptureFixture) -> None:
    await answers(". {\n errors\n forward . 127.0.0.1:1\n}", "x.example")
    assert caplog.messages[-1].startswith("2 x.example. A: udp 127.0.0.1:1: ")
    count = len(caplog.messages)
    await answers('. {\n errors {\n consolidate 5m "^udp"\n }\n forward . 127.0.0.1:1\n}', "x.example")
    assert len(caplog.messages) == count


def test_addresses_take_turns_behind_their_aliases() -> None:
    name, other = wire.name("www.example"), wire.name("lb.example")
    records = [Record(name, wire.CNAME, 1, 5, other)] + [
        Record(other, wire.A, 1, 5, bytes([10, 0, 0, at])) for at in range(20)
    ]
    message = Message(name + struct.pack(">HH", wire.A, 1), answers=records).encode()
    orders = {tuple(Message.read(shuffled(message)).answers) for _ in range(5)}
    assert len(orders) > 1 and all(order[0].type == wire.CNAME for order in orders)
    assert {frozenset(order) for order in orders} == {frozenset(records)}
