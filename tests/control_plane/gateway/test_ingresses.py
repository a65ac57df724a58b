"""Ingresses become one entry; hosts are their owner's."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import ingresses
from pybernetes.control_plane.gateway.kinds import CONTROLLER
from tests.control_plane.gateway.certificate import certificate
from tests.control_plane.gateway.view import DictionaryView, service, view


def _backend(name: str = "s", **port: Any) -> Object:
    return {"service": {"name": name, "port": port or {"number": 80}}}


def _path(path: str, kind: str = "Prefix", backend: Object | None = None) -> Object:
    return {"path": path, "pathType": kind, "backend": backend or _backend()}


def _ingress(
    name: str, *rules: tuple[str, Object], namespace: str = "default", created: str = "1", **spec: Any
) -> Object:
    made = [{**({"host": host} if host else {}), "http": {"paths": [path]}} for host, path in rules]
    meta = {"name": name, "namespace": namespace, "creationTimestamp": created}
    return {"metadata": meta, "spec": {"rules": made, **spec}}


def _cluster() -> DictionaryView:
    made = view(service("s"), service("s", "other"), service("external"))
    made.services["default/external"]["spec"]["type"] = "ExternalName"
    pair = (base64.b64encode(part).decode() for part in certificate("a.example"))
    secret = {"type": "kubernetes.io/tls", "data": dict(zip(("tls.crt", "tls.key"), pair, strict=True))}
    made.secrets = {"default/pair": secret, "other/pair": secret}
    return made


def _hosts(plan: ingresses.IngressPlan) -> dict[str, list[tuple[str, str, str]]]:
    hosts = plan.entry.ports[0].chains[0].hosts or {}
    return {
        host: [(route.match.path_type, route.match.path, route.order.name) for route in routes]
        for host, routes in hosts.items()
    }


def test_paths_and_default_backends() -> None:
    rules = [
        ("a.example", _path("/app")),
        ("a.example", _path("/app", "Exact")),
        ("", _path("/any", "ImplementationSpecific")),
    ]
    plan = ingresses.translate([_ingress("i", *rules, defaultBackend=_backend())], _cluster())
    every = [("prefix", "/any", "default/i"), ("prefix", "/", "default/i")]
    assert _hosts(plan) == {
        "*": every, "a.example": [("exact", "/app", "default/i"), ("prefix", "/app", "default/i"), *every],
    }  # fmt: skip
    assert not plan.problems


def test_a_wildcard_stands_for_one_label() -> None:
    rules = [("*.a.example", _path("/"))]
    plan = ingresses.translate([_ingress("i", *rules, defaultBackend=_backend())], _cluster())
    hosts = plan.entry.ports[0].chains[0].hosts or {}
    assert not hosts["*"][0].match.headers
    wild, default = hosts["*.a.example"]  # what the first is not for goes to the second
    (host,) = wild.match.headers
    assert default.match == hosts["*"][0].match and (host.name, host.is_regex) == (":authority", True)
    for asked, expected in (
        ("b.a.example", True), ("B.A.Example:80", True), ("c.b.a.example", False), ("a.example", False), ("bxaxexample", False),
    ):  # fmt: skip
        assert bool(re.fullmatch(host.value, asked)) is expected


def test_a_host_is_its_oldest_ingresses_namespace() -> None:
    plan = ingresses.translate(
        [
            _ingress("thief", ("a.example", _path("/app/admin")), namespace="other", created="2", tls=[{"hosts": ["a.example"], "secretName": "pair"}]),
            _ingress("mine", ("a.example", _path("/app")), created="1"),
            _ingress("also-mine", ("a.example", _path("/more")), created="3"),
        ],
        _cluster(),
    )  # fmt: skip
    assert {entry[2] for entry in _hosts(plan)["a.example"]} == {"default/mine", "default/also-mine"}
    assert set(plan.problems) == {"other/thief"}
    assert len(plan.entry.ports) == 1, "nor is its certificate taken"


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        (_backend("absent"), "does not exist"),
        (_backend("s", number=81), "has no TCP port 81"),
        (_backend("external"), "ExternalName"),
        ({"resource": {"kind": "A", "name": "b"}}, "no services"),
    ],
)
def test_backends_that_are_none(backend: Object, words: str) -> None:
    plan = ingresses.translate([_ingress("i", ("a.example", _path("/", backend=backend)))], _cluster())
    assert words in plan.problems["default/i"][0]
    assert plan.entry.ports[0].chains[0].hosts is not None
    (route,) = plan.entry.ports[0].chains[0].hosts["a.example"]
    assert route.action.backends[0].cluster == ""


def test_names_with_certificates_have_the_hosts_that_they_cover() -> None:
    tls = [
        {"hosts": ["a.example", "*.b.example"], "secretName": "pair"},
        {"hosts": ["c.example"], "secretName": "absent"},
        {"hosts": ["d.example"]},
    ]
    rules = [(host, _path("/")) for host in ("a.example", "x.b.example", "*.b.example", "c.example")]
    plan = ingresses.translate([_ingress("i", *rules, tls=tls)], _cluster())
    chains = {chain.server_names: sorted(chain.hosts or ()) for chain in plan.entry.ports[1].chains}
    assert chains == {("a.example",): ["a.example"], ("*.b.example",): ["*.b.example", "x.b.example"]}
    assert len(plan.problems["default/i"]) == 2


def test_hostile_paths_are_left_out_alone() -> None:
    rules = [("a.example", _path('/a"}, {"')), ("a.example", _path("/good"))]
    plan = ingresses.translate([_ingress("i", *rules)], _cluster())
    assert [entry[1] for entry in _hosts(plan)["a.example"]] == ["/good"]
    assert plan.problems["default/i"]


def _class(name: str, controller: str = CONTROLLER, default: bool = False) -> Object:
    annotations = {"ingressclass.kubernetes.io/is-default-class": "true"} if default else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {"controller": controller}}


@pytest.mark.parametrize(
    ("named", "annotated", "classes", "ours"),
    [
        ("a", "", [_class("a")], True),
        ("b", "", [_class("a")], False),
        ("a", "", [_class("a", "example.com/other")], False),
        ("", "", [_class("a")], False),
        ("", "", [_class("a", default=True)], True),
        ("", "", [_class("a"), _class("b", "example.com/other", default=True)], False),
        ("", "a", [_class("a")], True),
    ],
)
def test_which_ingresses_are_ours(named: str, annotated: str, classes: list[Object], ours: bool) -> None:
    ingress = _ingress("i", **({"ingressClassName": named} if named else {}))
    if annotated:
        ingress["metadata"]["annotations"] = {"kubernetes.io/ingress.class": annotated}
    assert ingresses.ours(ingress, {class_["metadata"]["name"]: class_ for class_ in classes}) is ours


def test_without_ingresses_there_is_no_entry() -> None:
    assert ingresses.translate([], _cluster()).entry.ports == ()
