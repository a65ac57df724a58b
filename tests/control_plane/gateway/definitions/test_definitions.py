"""The definitions are taken by an API server, and refuse what the Gateway API refuses."""

from __future__ import annotations

import copy

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.errors import Invalid
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, Ref
from pybernetes.control_plane.gateway.definitions import definitions
from pybernetes.control_plane.gateway.kinds import (
    GATEWAY_CLASSES,
    GATEWAYS,
    GRPC_ROUTES,
    HTTP_ROUTES,
    TLS_ROUTES,
)
from tests.cluster import Cluster
from tests.support import eventually

_GATEWAY: Object = {
    "metadata": {"name": "g", "namespace": "default"},
    "spec": {"gatewayClassName": "c", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
}
_HTTP: Object = {"metadata": {"name": "r", "namespace": "default"}, "spec": {"parentRefs": [{"name": "g"}]}}
_GRPC: Object = {"metadata": {"name": "r", "namespace": "default"}, "spec": {}}
_TLS: Object = {
    "metadata": {"name": "r", "namespace": "default"},
    "spec": {"hostnames": ["a.example"], "rules": [{"backendRefs": [{"name": "s", "port": 1}]}]},
}
_TWICE = [{"name": "g"}, {"name": "g"}]
_MIXED = [{"name": "g", "sectionName": "a"}, {"name": "g"}]
_REPLACE = {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/x"}
_EXACT = [{"path": {"type": "Exact", "value": "/a"}}]


def _listener(**fields: object) -> Object:
    return {"listeners": [{"name": "l", "port": 443, "protocol": "HTTPS", **fields}]}


def _rules(**fields: object) -> Object:
    return {"rules": [fields]}


REFUSED: tuple[tuple[Ref, Object, Object, str], ...] = (
    (GATEWAYS, _GATEWAY, {"listeners": []}, "should have at least 1 items"),
    (GATEWAYS, _GATEWAY, _listener(protocol="HTTP", tls={"certificateRefs": [{"name": "s"}]}), "tls must not be specified"),
    (GATEWAYS, _GATEWAY, _listener(tls={"mode": "Passthrough"}), "tls mode must be Terminate for protocol HTTPS"),
    (GATEWAYS, _GATEWAY, _listener(protocol="TLS"), "tls mode must be set for protocol TLS"),
    (GATEWAYS, _GATEWAY, _listener(hostname="-a"), "should match"),
    (GATEWAYS, _GATEWAY, _listener(port=0), "should be greater than or equal to 1"),
    (GATEWAYS, _GATEWAY, {"listeners": [
        {"name": "a", "port": 80, "protocol": "HTTP"}, {"name": "b", "port": 80, "protocol": "HTTP"},
    ]}, "Combination of port, protocol and hostname must be unique"),
    (GATEWAYS, _GATEWAY, {"addresses": [{"type": "IPAddress", "value": "no"}]}, "addresses"),
    (HTTP_ROUTES, _HTTP, {"parentRefs": _TWICE}, "sectionName must be unique"),
    (HTTP_ROUTES, _HTTP, {"parentRefs": _MIXED}, "sectionName must be specified"),
    (HTTP_ROUTES, _HTTP, {"hostnames": ["a.*.example"]}, "should match"),
    (HTTP_ROUTES, _HTTP, _rules(matches=[{"path": {"type": "Exact", "value": "a"}}]), "start with '/'"),
    (HTTP_ROUTES, _HTTP, _rules(matches=[{"path": {"type": "Exact", "value": "/a/../b"}}]), "must not contain '/../'"),
    (HTTP_ROUTES, _HTTP, _rules(matches=[{"path": {"type": "Exact", "value": '/a"b'}}]), "valid characters"),
    (HTTP_ROUTES, _HTTP, _rules(matches=[{"headers": [{"name": "a\r\nb", "value": "c"}]}]), "should match"),
    (HTTP_ROUTES, _HTTP, _rules(backendRefs=[{"name": "s"}]), "Must have port for Service reference"),
    (HTTP_ROUTES, _HTTP, _rules(filters=[{"type": "CORS"}]), "filter.cors must be specified"),
    (HTTP_ROUTES, _HTTP, _rules(filters=[{"type": "URLRewrite", "urlRewrite": {}, "cors": {}}]), "filter.cors must be nil"),
    (HTTP_ROUTES, _HTTP, _rules(filters=[{"type": "URLRewrite", "urlRewrite": {}}] * 2), "cannot be repeated"),
    (HTTP_ROUTES, _HTTP, _rules(
        matches=_EXACT, filters=[{"type": "URLRewrite", "urlRewrite": {"path": _REPLACE}}],
    ), "When using URLRewrite filter with path.replacePrefixMatch"),
    (HTTP_ROUTES, _HTTP, _rules(
        filters=[{"type": "RequestRedirect", "requestRedirect": {}}], backendRefs=[{"name": "s", "port": 1}],
    ), "must not be used together with backendRefs"),
    (HTTP_ROUTES, _HTTP, _rules(timeouts={"request": "1s", "backendRequest": "2s"}), "cannot be longer"),
    (HTTP_ROUTES, _HTTP, {"rules": [{"matches": [{}] * 64}] * 3}, "must be less than 128"),
    (GRPC_ROUTES, _GRPC, _rules(matches=[{"method": {"type": "Exact"}}]), "One or both of"),
    (GRPC_ROUTES, _GRPC, _rules(matches=[{"method": {"method": "a/b"}}]), "valid characters"),
    (TLS_ROUTES, _TLS, {"hostnames": ["1.2.3.4"]}, "Hostnames cannot contain an IP"),
    (TLS_ROUTES, _TLS, {"hostnames": []}, "should have at least 1 items"),
)  # fmt: skip


async def served(cluster: Cluster) -> None:
    """Install the definitions and wait until all of them are served."""
    for kind, made in definitions():
        await cluster.client.create(kind, copy.deepcopy(made))

    async def established() -> bool:
        crds = (await cluster.client.list(CUSTOM_RESOURCE_DEFINITIONS)).items
        states = [
            {c["type"]: c["status"] for c in crd.get("status", {}).get("conditions", ())} for crd in crds
        ]
        assert all(state.get("NonStructuralSchema") != "True" for state in states)
        return all(state.get("Established") == "True" for state in states)

    await eventually(established)


@pytest.mark.parametrize("name", [made["spec"]["names"]["kind"] for _, made in definitions()])
def test_every_kind_is_approved_and_of_the_standard_channel(name: str) -> None:
    (made,) = (made for _, made in definitions() if made["spec"]["names"]["kind"] == name)
    annotations = made["metadata"]["annotations"]
    assert annotations["gateway.networking.k8s.io/channel"] == "standard"
    assert annotations["api-approved.kubernetes.io"].startswith("https://")
    assert sum(version["storage"] for version in made["spec"]["versions"]) == 1


async def test_what_the_definitions_refuse_and_fill_in() -> None:
    async with Cluster() as cluster:
        await served(cluster)
        for kind, base, changes, words in REFUSED:
            obj = copy.deepcopy(base)
            obj["spec"] |= copy.deepcopy(changes)
            with pytest.raises(Invalid) as caught:
                await cluster.client.create(kind, obj)
            assert words in str(caught.value), (kind.kind, changes, str(caught.value))
        route = await cluster.client.create(HTTP_ROUTES, copy.deepcopy(_HTTP))
        assert route["spec"]["rules"] == [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}]
        assert route["spec"]["parentRefs"][0]["kind"] == "Gateway"
        gateway = await cluster.client.create(GATEWAYS, copy.deepcopy(_GATEWAY))
        assert gateway["spec"]["listeners"][0]["allowedRoutes"] == {"namespaces": {"from": "Same"}}
        assert [c["reason"] for c in gateway["status"]["conditions"]] == ["Pending", "Pending"]
        class_ = {"metadata": {"name": "c"}, "spec": {"controllerName": "example.com/a"}}
        created = await cluster.client.create(GATEWAY_CLASSES, class_)
        created["spec"]["controllerName"] = "example.com/b"
        with pytest.raises(Invalid, match="field is immutable"):
            await cluster.client.update(GATEWAY_CLASSES, created)
        older = Ref("gateway.networking.k8s.io", "v1beta1", "httproutes", "HTTPRoute")
        assert [r["metadata"]["name"] for r in (await cluster.client.list(older)).items] == ["r"]
