"""Gateways with routes: who is attached to what, what the proxy serves, and what everybody is told."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import gateways, status
from pybernetes.control_plane.gateway.gateways import GatewayPlan
from tests.control_plane.gateway.certificate import certificate
from tests.control_plane.gateway.view import DictionaryView, grant, service, view

_NOW = "2026-01-02T00:00:00Z"


def _listener(name: str = "http", port: int = 80, protocol: str = "HTTP", **more: Any) -> Object:
    return {"name": name, "port": port, "protocol": protocol, **more}


def _gateway(*listeners: Object, **spec: Any) -> Object:
    meta = {"name": "g", "namespace": "default", "generation": 3}
    return {"metadata": meta, "spec": {"gatewayClassName": "c", "listeners": list(listeners), **spec}}


def _route(name: str = "r", namespace: str = "default", hosts: tuple[str, ...] = (), **parent: Any) -> Object:
    return {
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 2},
        "spec": {
            "parentRefs": [{"name": "g", "namespace": "default", **parent}], "hostnames": list(hosts),
            "rules": [{"backendRefs": [{"name": "s", "port": 80}]}],
        },
    }  # fmt: skip


def _cluster() -> DictionaryView:
    made = view(service("s"), service("s", "other"))
    pair = certificate("a.example")
    data = dict(zip(("tls.crt", "tls.key"), (base64.b64encode(part).decode() for part in pair), strict=True))
    secret = {"type": "kubernetes.io/tls", "data": data}
    made.secrets = {
        "default/pair": secret,
        "other/pair": secret,
        "default/bad": {"type": "kubernetes.io/tls"},
    }
    made.labels = {"other": {"team": "b"}}
    return made


def _conditions(entries: list[Object]) -> dict[str, str]:
    return {entry["type"]: f"{entry['status']} {entry['reason']}" for entry in entries}


def _listeners(gateway: Object, plan: GatewayPlan) -> dict[str, dict[str, str]]:
    made = status.of_gateway(gateway, plan, [], "", _NOW)
    return {entry["name"]: _conditions(entry["conditions"]) for entry in made["listeners"]}


_GOOD = {
    "Accepted": "True Accepted",
    "Conflicted": "False NoConflicts",
    "ResolvedRefs": "True ResolvedRefs",
    "Programmed": "True Programmed",
}
_TLS = {"certificateRefs": [{"name": "pair"}]}
LISTENERS: list[tuple[list[Object], dict[str, str]]] = [
    ([_listener()], {}),
    ([_listener(protocol="UDP")], {"Accepted": "False UnsupportedProtocol", "Programmed": "False Invalid"}),
    ([_listener(protocol="HTTPS", tls=_TLS)], {}),
    ([_listener(protocol="HTTPS", tls={"certificateRefs": [{"name": "absent"}]})],
     {"ResolvedRefs": "False InvalidCertificateRef", "Programmed": "False Invalid"}),
    ([_listener(protocol="HTTPS", tls={"certificateRefs": [{"name": "bad"}]})],
     {"ResolvedRefs": "False InvalidCertificateRef", "Programmed": "False Invalid"}),
    ([_listener(protocol="HTTPS", tls={"certificateRefs": [{"name": "pair", "kind": "ConfigMap"}]})],
     {"ResolvedRefs": "False InvalidCertificateRef", "Programmed": "False Invalid"}),
    ([_listener(protocol="HTTPS", tls={"certificateRefs": [{"name": "pair", "namespace": "other"}]})],
     {"ResolvedRefs": "False RefNotPermitted", "Programmed": "False Invalid"}),
    ([_listener(protocol="TLS", tls={"mode": "Passthrough"})], {}),
    ([_listener(allowedRoutes={"kinds": [{"kind": "TLSRoute"}]})],
     {"ResolvedRefs": "False InvalidRouteKinds", "Programmed": "False Invalid"}),
    ([_listener(allowedRoutes={"kinds": [{"kind": "TLSRoute"}, {"kind": "HTTPRoute"}]})], {"ResolvedRefs": "False InvalidRouteKinds"}),
    ([_listener(), _listener("two", protocol="HTTPS", hostname="a.example", tls=_TLS)],
     {"Accepted": "False ProtocolConflict", "Conflicted": "True ProtocolConflict", "Programmed": "False Invalid"}),
    ([_listener(protocol="TLS", tls={"mode": "Passthrough"}), _listener("two", protocol="HTTPS", tls=_TLS)],
     {"Accepted": "False HostnameConflict", "Conflicted": "True HostnameConflict", "Programmed": "False Invalid"}),
]  # fmt: skip


@pytest.mark.parametrize(("listeners", "changed"), LISTENERS)
def test_conditions_of_listeners(listeners: list[Object], changed: dict[str, str]) -> None:
    gateway = _gateway(*listeners)
    plan = gateways.translate(gateway, [], _cluster())
    made = status.of_gateway(gateway, plan, [{"type": "IPAddress", "value": "192.0.2.1"}], "", _NOW)
    assert _conditions(made["listeners"][0]["conditions"]) == _GOOD | changed
    usable = changed.get("Programmed") is None
    conditions = _conditions(made["conditions"])
    assert conditions["Programmed"] == ("True Programmed" if usable else "False Invalid")
    assert conditions["Accepted"] == ("True Accepted" if usable else "False ListenersNotValid")
    assert bool(plan.entry.ports) == usable, "what is not programmed is not served"
    assert {entry["observedGeneration"] for entry in made["conditions"]} == {3}


_ALL = {"namespaces": {"from": "All"}}
_LABELLED = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": "b"}}}}
_BROKEN = {
    "namespaces": {"from": "Selector", "selector": {"matchExpressions": [{"key": "a", "operator": "?"}]}}
}
ATTACHED: list[tuple[Object, Object, str]] = [
    (_listener(), _route(), "True Accepted"),
    (_listener(), _route(sectionName="http"), "True Accepted"),
    (_listener(), _route(sectionName="other"), "False NoMatchingParent"),
    (_listener(), _route(port=81), "False NoMatchingParent"),
    (_listener(), _route(port=80), "True Accepted"),
    (_listener(), _route(namespace="other"), "False NotAllowedByListeners"),
    (_listener(allowedRoutes=_ALL), _route(namespace="other"), "True Accepted"),
    (_listener(allowedRoutes=_LABELLED), _route(namespace="other"), "True Accepted"),
    (_listener(allowedRoutes=_LABELLED), _route(), "False NotAllowedByListeners"),
    (_listener(allowedRoutes=_BROKEN), _route(), "False NotAllowedByListeners"),
    (_listener(allowedRoutes={"kinds": [{"kind": "GRPCRoute"}]}), _route(), "False NotAllowedByListeners"),
    (_listener(hostname="*.example"), _route(hosts=("a.example",)), "True Accepted"),
    (_listener(hostname="*.example"), _route(hosts=("a.test",)), "False NoMatchingListenerHostname"),
]


@pytest.mark.parametrize(("listener", "route", "accepted"), ATTACHED)
def test_which_routes_are_attached(listener: Object, route: Object, accepted: str) -> None:
    gateway = _gateway(listener)
    plan = gateways.translate(gateway, [("HTTPRoute", route)], _cluster())
    made = status.of_route(route, ("default", "g"), plan.routes[0], _NOW)
    (parent,) = made["parents"]
    assert _conditions(parent["conditions"])["Accepted"] == accepted
    assert parent["parentRef"] == route["spec"]["parentRefs"][0]
    attached = accepted == "True Accepted"
    assert plan.listeners[0].attached == attached
    assert bool(plan.entry.clusters) == attached, "a route that is not accepted brings nothing into the proxy"


def test_a_host_belongs_to_the_most_specific_listener() -> None:
    gateway = _gateway(
        _listener("every"), _listener("wild", hostname="*.example"), _listener("exact", hostname="a.example")
    )
    routes = [("HTTPRoute", _route("all")), ("HTTPRoute", _route("only", sectionName="wild"))]
    plan = gateways.translate(gateway, routes, _cluster())
    hosts = plan.entry.ports[0].chains[0].hosts
    assert hosts is not None
    names = {host: [route.order.name for route in of_host] for host, of_host in hosts.items()}
    assert names == {
        "*": ["default/all"],
        "*.example": ["default/all", "default/only"],
        "a.example": ["default/all"],
    }
    assert [listener.attached for listener in plan.listeners] == [1, 2, 1]


def test_chains_of_tls_have_one_name_each() -> None:
    gateway = _gateway(
        _listener("web", 443, "HTTPS", hostname="a.example", tls=_TLS),
        _listener("pass", 443, "TLS", hostname="*.example", tls={"mode": "Passthrough"}),
    )
    taken = _route("first", hosts=("a.example", "b.example"))
    later = _route("second", hosts=("b.example", "*.example"))
    plan = gateways.translate(gateway, [("TLSRoute", taken), ("TLSRoute", later)], _cluster())
    chains = plan.entry.ports[0].chains
    assert [chain.server_names for chain in chains] == [("a.example",), ("b.example",), ("*.example",)]
    assert chains[0].certificates == ("default/pair",)
    assert chains[1].certificates == ()


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"addresses": [{"type": "IPAddress", "value": "192.0.2.9"}]}, "UnsupportedAddress"),
        ({"tls": {"frontend": {"default": {}}}}, "Invalid"),
        ({"infrastructure": {"parametersRef": {"group": "", "kind": "A", "name": "b"}}}, "InvalidParameters"),
    ],
)
def test_what_cannot_be_had_is_refused_and_not_left_out(spec: Object, reason: str) -> None:
    gateway = _gateway(_listener(), **spec)
    plan = gateways.translate(gateway, [("HTTPRoute", _route())], _cluster())
    conditions = _conditions(status.of_gateway(gateway, plan, [], "", _NOW)["conditions"])
    assert conditions == {"Accepted": f"False {reason}", "Programmed": "False Invalid"}
    assert plan.entry.ports == ()
    assert plan.entry.certificates == {}


def test_what_the_proxy_refuses_and_a_missing_address_are_told() -> None:
    gateway = _gateway(_listener())
    plan = gateways.translate(gateway, [], _cluster())
    refused = status.of_gateway(gateway, plan, [], "bad words", _NOW)
    assert _conditions(refused["conditions"])["Programmed"] == "False Pending"
    waiting = status.of_gateway(gateway, plan, [], "", _NOW)
    assert _conditions(waiting["conditions"])["Programmed"] == "False AddressNotAssigned"
    assert _listeners(gateway, plan)["http"]["Programmed"] == "True Programmed"


def test_a_grant_opens_what_it_names_and_nothing_else() -> None:
    cluster = _cluster()
    gateway = _gateway(
        _listener("a", 443, "HTTPS", tls={"certificateRefs": [{"name": "pair", "namespace": "other"}]})
    )
    for grants, reason in (
        ([grant("Gateway", "default", "Secret", name="pair")], "True ResolvedRefs"),
        ([grant("Gateway", "default", "Secret")], "True ResolvedRefs"),
        ([grant("Gateway", "default", "Secret", name="another")], "False RefNotPermitted"),
        ([grant("Gateway", "elsewhere", "Secret")], "False RefNotPermitted"),
        ([grant("HTTPRoute", "default", "Secret")], "False RefNotPermitted"),
        ([grant("Gateway", "default", "Service")], "False RefNotPermitted"),
    ):
        cluster.all_grants = {"other": grants}
        plan = gateways.translate(gateway, [], cluster)
        assert _listeners(gateway, plan)["a"]["ResolvedRefs"] == reason
        cluster.all_grants = {"default": grants}
        plan = gateways.translate(gateway, [], cluster)
        assert _listeners(gateway, plan)["a"]["ResolvedRefs"] == "False RefNotPermitted", "it must be theirs"


def test_statuses_of_others_stay_and_times_change_only_with_the_word() -> None:
    gateway, route = _gateway(_listener()), _route()
    theirs = {"parentRef": {"name": "g"}, "controllerName": "example.com/other", "conditions": []}
    route["status"] = {"parents": [theirs]}
    plan = gateways.translate(gateway, [("HTTPRoute", route)], _cluster())
    route["status"] = status.of_route(route, ("default", "g"), plan.routes[0], _NOW)
    assert route["status"]["parents"][0] == theirs
    again = status.of_route(route, ("default", "g"), plan.routes[0], "2027-01-01T00:00:00Z")
    assert again == route["status"]
    assert status.of_route(route, ("default", "g"), None, _NOW) == {"parents": [theirs]}
    class_ = {"metadata": {"name": "c", "generation": 1}, "spec": {"controllerName": "pybernetes.io/gateway"}}
    made = status.of_class(class_, _NOW)
    assert _conditions(made["conditions"]) == {"Accepted": "True Accepted"}
    assert made["supportedFeatures"] == sorted(made["supportedFeatures"], key=lambda feature: feature["name"])
    class_["spec"]["parametersRef"] = {}  # type: ignore[index]
    assert _conditions(status.of_class(class_, _NOW)["conditions"]) == {"Accepted": "False InvalidParameters"}
