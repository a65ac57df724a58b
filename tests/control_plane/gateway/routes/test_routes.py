"""Routes of all kinds become matches and actions, or reasons."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.model import Backend, Match, Value
from pybernetes.control_plane.gateway.routes import grpcroute, httproute, tlsroute
from tests.control_plane.gateway.view import grant, service, view


def _route(*rules: Object, hosts: tuple[str, ...] = ()) -> Object:
    meta = {"name": "r", "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": meta, "spec": {"rules": list(rules), "hostnames": list(hosts)}}


def _to(name: str, **more: Any) -> Object:
    return {"name": name, "port": 80, **more}


@pytest.mark.parametrize(
    ("config", "match"),
    [
        ({}, Match()),
        ({"path": {"type": "Exact", "value": "/a"}}, Match("exact", "/a")),
        ({"path": {"type": "RegularExpression", "value": "/a+"}}, Match("regex", "/a+")),
        ({"method": "GET"}, Match(method="GET")),
        (
            {"headers": [{"name": "A", "value": "b"}, {"name": "a", "value": "c"}]},
            Match(headers=(Value("A", "b"),)),  # of names that differ in case alone the first counts
        ),
        (
            {"queryParams": [{"name": "q", "value": "x.*", "type": "RegularExpression"}]},
            Match(parameters=(Value("q", "x.*", True),)),
        ),
    ],
)
def test_matches_of_http(config: Object, match: Match) -> None:
    made = httproute.translate(_route({"matches": [config], "backendRefs": [_to("s")]}), view(service("s")))
    assert [route.match for route in made.routes] == [match]


@pytest.mark.parametrize(
    ("method", "match"),
    [
        (None, Match()),
        ({"service": "a.B", "method": "C"}, Match("exact", "/a.B/C")),
        ({"service": "a.B"}, Match("prefix", "/a.B/")),
        ({"method": "C"}, Match("regex", "/[^/]+/C")),
        ({"type": "RegularExpression", "service": "a.*"}, Match("regex", "/(a.*)/([^/]+)")),
    ],
)
def test_matches_of_grpc(method: Object | None, match: Match) -> None:
    rule = {"matches": [{"method": method} if method else {}], "backendRefs": [_to("s")]}
    made = grpcroute.translate(_route(rule), view(service("s")))
    assert [route.match for route in made.routes] == [match]
    assert list(made.clusters) == ["default/s/80/h2"], "backends of gRPC speak HTTP/2"


REASONS: list[tuple[Object, str | None]] = [
    (_to("s"), None),
    (_to("absent"), "BackendNotFound"),
    (_to("s", port=81), "BackendNotFound"),
    (_to("outside"), "BackendNotFound"),
    (_to("s", kind="ConfigMap"), "InvalidKind"),
    (_to("s", group="example.com"), "InvalidKind"),
    (_to("theirs", namespace="other"), "RefNotPermitted"),
    (_to("granted", namespace="other"), None),
    (_to("secure"), "UnsupportedProtocol"),
]


@pytest.mark.parametrize(("reference", "reason"), REASONS)
def test_references_to_backends(reference: Object, reason: str | None) -> None:
    outside = service("outside")
    outside["spec"]["type"] = "ExternalName"
    services = (
        service("s"),
        outside,
        service("theirs", "other"),
        service("granted", "other"),
        service("secure", appProtocol="https"),
    )
    cluster = view(*services)
    cluster.all_grants["other"] = [
        grant("HTTPRoute", "default", name="granted"),
        grant("HTTPRoute", "elsewhere"),
        grant("TLSRoute", "default"),
    ]
    made = httproute.translate(_route({"backendRefs": [reference]}), cluster)
    assert (made.unresolved[0] if made.unresolved else None) == reason
    (backend,) = made.routes[0].action.backends
    assert bool(backend.cluster) == (reason is None), "what cannot be resolved is answered with an error"
    assert made.refused is None


def test_weights_and_protocols_of_backends() -> None:
    references = [_to("a", weight=3), _to("b", weight=0), _to("c")]
    cluster = view(service("a"), service("b"), service("c", appProtocol="kubernetes.io/h2c"))
    made = httproute.translate(_route({"backendRefs": references}), cluster)
    assert made.routes[0].action.backends == (Backend("default/a/80", 3), Backend("default/c/80/h2", 1))


@pytest.mark.parametrize(
    "rule",
    [
        {"filters": [{"type": "ExtensionRef", "extensionRef": {"group": "", "kind": "A", "name": "b"}}]},
        {
            "filters": [
                {
                    "type": "RequestHeaderModifier",
                    "requestHeaderModifier": {"set": [{"name": "host", "value": "x"}]},
                }
            ]
        },
        {
            "filters": [
                {
                    "type": "RequestHeaderModifier",
                    "requestHeaderModifier": {"add": [{"name": "a", "value": "b\r\nc: d"}]},
                }
            ]
        },
        {"filters": [{"type": "ResponseHeaderModifier", "responseHeaderModifier": {"remove": [":status"]}}]},
        {
            "filters": [
                {
                    "type": "URLRewrite",
                    "urlRewrite": {"path": {"type": "ReplaceFullPath", "replaceFullPath": "/a\r\n"}},
                }
            ]
        },
        {"backendRefs": [_to("s", filters=[{"type": "RequestRedirect", "requestRedirect": {}}])]},
        {"matches": [{"path": {"type": "RegularExpression", "value": "("}}]},
        {"matches": [{"headers": [{"name": "a", "type": "RegularExpression", "value": "(?<=a)"}]}]},
    ],
)
def test_rules_that_cannot_be_carried_out_are_refused(rule: Object) -> None:
    made = httproute.translate(_route(rule), view(service("s")))
    assert made.refused is not None
    assert made.refused[0] == "UnsupportedValue"
    assert not made.routes


def test_a_route_for_connections() -> None:
    made = tlsroute.translate(
        _route({"backendRefs": [_to("s"), _to("absent")]}, hosts=("a.example",)), view(service("s"))
    )
    assert made.hosts == ("a.example",)
    assert made.backends == (Backend("default/s/80"), Backend(""))
    assert made.unresolved is not None
