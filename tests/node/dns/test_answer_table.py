"""Services come, change and go."""

from __future__ import annotations

from tests.node.dns.zone import NX, OK, WEB, Zone, service, slice_of


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
