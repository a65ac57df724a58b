"""The whole gateway with a real proxy."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
import ssl
from pathlib import Path

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.errors import Invalid
from pybernetes.client.refs import INGRESSES, NAMESPACES, SECRETS, SERVICES
from pybernetes.control_plane.gateway import access
from pybernetes.control_plane.gateway.envoy.messages import CLUSTER, ENDPOINTS, LISTENER, ROUTES, SECRET
from pybernetes.control_plane.gateway.kinds import (
    GATEWAYS,
    HTTP_ROUTES,
    NAMESPACE,
    REFERENCE_GRANTS,
    TLS_ROUTES,
)
from tests.control_plane.gateway.certificate import certificate
from tests.control_plane.gateway.controller.world import SECONDS, World, world
from tests.support import eventually

pytestmark = pytest.mark.slow


def _gateway(*listeners: Object) -> Object:
    return {
        "metadata": {"name": "entry", "namespace": "default"},
        "spec": {"gatewayClassName": access.CLASS, "listeners": list(listeners)},
    }


def _route(name: str, *rules: Object, hosts: tuple[str, ...] = (), namespace: str = "default") -> Object:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "parentRefs": [{"name": "entry", "namespace": "default"}], "rules": list(rules),
            **({"hostnames": list(hosts)} if hosts else {}),
        },
    }  # fmt: skip


def _to(name: str, **more: object) -> Object:
    return {"backendRefs": [{"name": name, "port": 80, **more}]}


async def test_a_gateway_from_its_address_to_its_end(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        first = await made.backend("first")
        await made.backend("second")
        await made.client.create(GATEWAYS, _gateway({"name": "http", "port": 80, "protocol": "HTTP"}))
        header = [{"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": [
            {"name": "x-leak", "value": "%REQ(authorization)%"}]}}]  # fmt: skip
        moved = [{"type": "RequestRedirect", "requestRedirect": {"path": {
            "type": "ReplacePrefixMatch", "replacePrefixMatch": "/new"}, "statusCode": 301}}]  # fmt: skip
        rewritten = [{"type": "URLRewrite", "urlRewrite": {"path": {
            "type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}}}]  # fmt: skip
        rules = (
            {"matches": [{"path": {"value": "/header"}}], "filters": header, **_to("first")},
            {"matches": [{"path": {"value": "/old"}}], "filters": moved},
            {"matches": [{"path": {"value": "/cut"}}], "filters": rewritten, **_to("first")},
            {"matches": [{"path": {"type": "Exact", "value": "/gone"}}], **_to("absent")},
            {"matches": [{"headers": [{"name": "which", "value": "second"}]}], **_to("second")},
            _to("first"),
        )
        await made.client.create(HTTP_ROUTES, _route("web", *rules, hosts=("a.example",)))
        port = await made.bound("default/entry", 80)
        await made.eventually_answers(port, "a.example", 200, "first")
        assert (await made.ask(port, "b.example"))[0] == 404
        assert "\nsecond" in (await made.ask(port, "a.example", headers="which: second\r\n"))[1].replace(
            "\r", ""
        )
        asked = (await made.ask(port, "a.example", "/header", "authorization: Bearer secret\r\n"))[1]
        assert "x-leak: %REQ(authorization)%" in asked, "commands of the proxy in a value stay text"
        status, text = await made.ask(port, "a.example", "/old/page?x=1")
        assert (status, "location: http://a.example/new/page?x=1" in text) == (301, True), text
        assert "GET /page HTTP" in (await made.ask(port, "a.example", "/cut/page"))[1]
        assert "GET / HTTP" in (await made.ask(port, "a.example", "/cut"))[1]
        assert (await made.ask(port, "a.example", "/gone"))[0] == 500
        assert (await made.ask(port, "a.example", "/gone/x"))[0] == 200

        async def told() -> bool:
            gateway, route = (
                await made.conditions(GATEWAYS, "entry"),
                await made.conditions(HTTP_ROUTES, "web"),
            )
            return (gateway["Accepted"], gateway["Programmed"], route.get("Accepted"), route.get("ResolvedRefs")) == (
                ("True", "Accepted"), ("True", "Programmed"), ("True", "Accepted"), ("False", "BackendNotFound"),
            )  # fmt: skip

        await eventually(told, SECONDS)
        gateway = await made.client.get(GATEWAYS, "entry", "default")
        assert gateway["status"]["addresses"] == [{"type": "IPAddress", "value": "198.51.100.7"}]
        assert gateway["status"]["listeners"][0]["attachedRoutes"] == 1
        await _endpoints_move_without_an_error(made, port, first)
        await made.client.delete(GATEWAYS, "entry", "default")

        async def gone() -> bool:
            route = await made.client.get(HTTP_ROUTES, "web", "default")
            services = (await made.client.list(SERVICES, NAMESPACE)).items
            return (
                not services
                and not route["status"]["parents"]
                and (await made.ask(port, "a.example"))[0] == 0
            )

        await eventually(gone, SECONDS)


async def _endpoints_move_without_an_error(made: World, port: int, first: int) -> None:
    """Requests go on while endpoints come and go; none of them fails."""
    other = await made.server("other")
    ended = False
    answers: list[tuple[int, str]] = []

    async def go_on() -> None:
        while not ended:
            answers.append(await made.ask(port, "a.example"))

    clients = [asyncio.create_task(go_on()) for _ in range(3)]
    for number in range(10):
        await made.endpoints("first", "default", *((other,) if number % 2 else (first, other)))
        seen = len(answers)
        await eventually(lambda seen=seen: len(answers) > seen + 6, SECONDS)  # type: ignore[misc]
    await made.endpoints("first", "default", other)
    await made.eventually_answers(port, "a.example", 200, "other")
    ended = True
    await asyncio.gather(*clients)
    assert {status for status, _ in answers} == {200}
    assert any("other" in text for _, text in answers)
    with socket.socket() as nobody:
        nobody.bind((made.address, 0))  # bound, and nobody listens: a pod that is about to end
        await made.endpoints("first", "default", nobody.getsockname()[1], other)
        await made.gateway.server.settled(ENDPOINTS, seconds=SECONDS)
        assert {(await made.ask(port, "a.example"))[0] for _ in range(20)} == {200}, (
            "another endpoint is tried"
        )
    await made.endpoints("first", "default")
    await made.eventually_answers(port, "a.example", 503)
    await made.endpoints("first", "default", first)


async def test_certificates_grants_and_connections_that_are_passed_on(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        await made.client.create(NAMESPACES, {"metadata": {"name": "other"}})
        await made.backend("mine")
        await made.backend("theirs", "other")
        pairs = {host: certificate(host) for host in ("a.example", "b.example")}
        for (host, pair), namespace in zip(pairs.items(), ("default", "other"), strict=True):
            await made.client.create(SECRETS, _secret(host, namespace, *pair))
        tls = {"certificateRefs": [{"name": "b.example", "namespace": "other"}]}
        await made.client.create(GATEWAYS, _gateway(
            {"name": "a", "port": 443, "protocol": "HTTPS", "hostname": "a.example", "tls": {"certificateRefs": [{"name": "a.example"}]}},
            {"name": "b", "port": 443, "protocol": "HTTPS", "hostname": "b.example", "tls": tls},
            {"name": "pass", "port": 443, "protocol": "TLS", "hostname": "c.example", "tls": {"mode": "Passthrough"}},
        ))  # fmt: skip
        await made.client.create(HTTP_ROUTES, _route("web", _to("mine"), hosts=("a.example",)))
        await made.client.create(
            HTTP_ROUTES, _route("far", _to("theirs", namespace="other"), hosts=("b.example",))
        )
        await made.client.create(TLS_ROUTES, _route("through", _to("mine"), hosts=("c.example",)))
        port = await made.bound("default/entry", 443)
        contexts = {host: ssl.create_default_context(cadata=pair[0].decode()) for host, pair in pairs.items()}
        await made.eventually_answers(port, "a.example", 200, "mine", context=contexts["a.example"])

        async def refused() -> bool:
            gateway = await made.client.get(GATEWAYS, "entry", "default")
            listener = gateway["status"]["listeners"][1]
            reasons = {entry["type"]: entry["reason"] for entry in listener["conditions"]}
            route = await made.conditions(HTTP_ROUTES, "far")
            return (reasons["ResolvedRefs"], reasons["Programmed"]) == ("RefNotPermitted", "Invalid") and (
                route.get("ResolvedRefs") == ("False", "RefNotPermitted")
            )

        await eventually(refused, SECONDS)
        assert (await made.ask(port, "b.example", context=contexts["b.example"]))[0] == 0
        source = {"group": "gateway.networking.k8s.io", "namespace": "default"}
        await made.client.create(REFERENCE_GRANTS, {
            "metadata": {"name": "let", "namespace": "other"},
            "spec": {
                "from": [{**source, "kind": "Gateway"}, {**source, "kind": "HTTPRoute"}],
                "to": [{"group": "", "kind": "Secret", "name": "b.example"}, {"group": "", "kind": "Service"}],
            },
        })  # fmt: skip
        await made.eventually_answers(port, "b.example", 200, "theirs", context=contexts["b.example"])
        await made.client.delete(REFERENCE_GRANTS, "let", "other")
        await made.eventually_answers(port, "b.example", 0, context=contexts["b.example"])
        # A name whose connections are passed on: the backend gets what the client sends, which here is no TLS.
        reader, writer = await asyncio.open_connection(made.address, port)
        writer.write(_client_hello("c.example"))
        await writer.drain()
        writer.write(b"\r\n\r\n")
        await asyncio.wait_for(reader.readuntil(b"mine\n"), SECONDS)
        writer.close()


def _client_hello(host: str) -> bytes:
    """Return the first message of a connection that asks for a host."""
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context()
    connection = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=host)
    with contextlib.suppress(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


def _secret(name: str, namespace: str, chain: bytes, key: bytes) -> Object:
    data = {"tls.crt": base64.b64encode(chain).decode(), "tls.key": base64.b64encode(key).decode()}
    return {"metadata": {"name": name, "namespace": namespace}, "type": "kubernetes.io/tls", "data": data}


def _ingress(name: str, namespace: str, host: str, service: str, **spec: object) -> Object:
    backend = {"service": {"name": service, "port": {"name": "web"}}}
    paths = [{"path": "/app", "pathType": "Prefix", "backend": backend}]
    rules = [{"host": host, "http": {"paths": paths}}]
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"rules": rules, **spec}}


async def test_ingresses_share_an_entry_and_keep_their_hosts(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        await made.client.create(NAMESPACES, {"metadata": {"name": "other"}})
        await made.backend("mine")
        await made.backend("last")
        await made.backend("thief", "other")
        chain, key = certificate("a.example")
        await made.client.create(SECRETS, _secret("pair", "default", chain, key))
        default = {"service": {"name": "last", "port": {"number": 80}}}
        await made.client.create(INGRESSES, _ingress(
            "web", "default", "a.example", "mine", tls=[{"hosts": ["a.example"], "secretName": "pair"}], defaultBackend=default,
        ))  # fmt: skip
        port = await made.bound("ingress", 80)
        await made.eventually_answers(port, "a.example", 200, "mine", path="/app/x")
        assert "\nlast" in (await made.ask(port, "a.example", "/application"))[1].replace("\r", "")
        assert "\nlast" in (await made.ask(port, "elsewhere.example"))[1].replace("\r", "")
        secure = await made.bound("ingress", 443)
        context = ssl.create_default_context(cadata=chain.decode())
        await made.eventually_answers(secure, "a.example", 200, "mine", path="/app", context=context)
        stolen = _ingress("steal", "other", "a.example", "thief")
        stolen["spec"]["rules"][0]["http"]["paths"][0]["path"] = "/app/admin"
        await made.client.create(INGRESSES, stolen)
        await made.client.create(
            INGRESSES, _ingress("own", "other", "b.example", "thief", ingressClassName="pybernetes")
        )
        await made.eventually_answers(port, "b.example", 200, "thief", path="/app")
        assert "\nmine" in (await made.ask(port, "a.example", "/app/admin"))[1].replace("\r", "")
        await made.client.create(INGRESSES, _ingress("wild", "default", "*.w.example", "mine"))
        await made.eventually_answers(port, "X.w.example:8000", 200, "mine", path="/app")
        assert "\nlast" in (await made.ask(port, "y.x.w.example", "/app"))[1].replace("\r", "")

        async def told() -> bool:
            ingress = await made.client.get(INGRESSES, "web", "default")
            entries: object = ingress["status"]["loadBalancer"].get("ingress")
            return entries == [{"ip": "198.51.100.7"}]

        await eventually(told, SECONDS)


async def test_what_one_tenant_writes_never_holds_up_another(tmp_path: Path) -> None:
    """Everything that the API server takes is either served, or refused before the proxy could refuse it."""
    async with world(tmp_path) as made:
        await made.client.create(NAMESPACES, {"metadata": {"name": "other"}})
        await made.backend("mine")
        await made.backend("theirs", "other")
        open_ = {"namespaces": {"from": "All"}}
        await made.client.create(
            GATEWAYS, _gateway({"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": open_})
        )
        await made.client.create(INGRESSES, _ingress("web", "default", "a.example", "mine"))
        odd: tuple[Object, ...] = (
            {"matches": [{"path": {"type": "RegularExpression", "value": "(a|b|c|d|e|f|g|h){1,400}"}}]},
            {"matches": [{"path": {"type": "RegularExpression", "value": "((a{1,50}){1,50}){1,50}"}}]},
            {"matches": [{"path": {"type": "RegularExpression", "value": "(a|b|c|d|e|f|g|h){1,60}"}}]},
            {"matches": [{"headers": [{"name": "x", "type": "RegularExpression", "value": "(?P<n>[a-z]+)\\x41{2}"}]}]},
            {"matches": [{"headers": [{"name": "%", "value": "%REQ(x)%\t\u00e9"}]}]},
            {"matches": [{"path": {"type": "Exact", "value": "/%41;a=b"}}]},
            {"filters": [{"type": "ResponseHeaderModifier", "responseHeaderModifier": {
                "set": [{"name": "server", "value": "%"}, {"name": "x-a", "value": "a\r\nx-b: c"}]}}]},
            {"filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["Host", ":path", ""]}}]},
            {"filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": {"add": [{"name": "content-length", "value": "0"}]}}]},
            {"filters": [{"type": "URLRewrite", "urlRewrite": {"path": {"type": "ReplaceFullPath", "replaceFullPath": "\\9?#%"}}}]},
            {"filters": [{"type": "RequestRedirect", "requestRedirect": {"path": {
                "type": "ReplaceFullPath", "replaceFullPath": "//evil.example\r\nx: y"}}}]},
            {"filters": [{"type": "CORS", "cors": {"allowOrigins": ["https://*.a.example", "http://b.example:1"], "maxAge": 2147483647}}]},
            {"filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "theirs", "port": 80},
                "fraction": {"numerator": 1, "denominator": 2147483647}}}]},
            {"matches": [{"path": {"value": "/" + "long" * 255}}], "filters": [{"type": "URLRewrite", "urlRewrite": {"path": {
                "type": "ReplacePrefixMatch", "replacePrefixMatch": "/short"}}}]},
            {"timeouts": {"request": "99999h99999h99999h99999h", "backendRequest": "1ms"}},
            {"backendRefs": [{"name": "theirs", "port": 80, "weight": 1000000}] * 16},
            {"backendRefs": [{"name": "theirs", "port": 80, "weight": 0}]},
            {"backendRefs": [{"name": "mine", "namespace": "default", "port": 80}]},
        )  # fmt: skip
        for number, rule in enumerate(odd):
            whole = (
                rule if "backendRefs" in rule or "requestRedirect" in str(rule) else {**rule, **_to("theirs")}
            )
            await made.client.create(
                HTTP_ROUTES, _route(f"odd-{number}", whole, hosts=("odd.example",), namespace="other")
            )
        for number, path in enumerate(("/a?b", "/a#b", "/a b", '/"', "/a%zz", "/$1", "/a*")):
            ingress = _ingress(f"odd-{number}", "other", "odd.example", "theirs")
            ingress["spec"]["rules"][0]["http"]["paths"][0]["path"] = path
            with contextlib.suppress(Invalid):  # what the API server refuses itself cannot do any harm
                await made.client.create(INGRESSES, ingress)
        await made.client.create(HTTP_ROUTES, _route("web", _to("mine"), hosts=("a.example",)))
        port = await made.bound("default/entry", 80)
        await made.eventually_answers(port, "a.example", 200, "mine")
        plain = await made.bound("ingress", 80)
        await made.eventually_answers(plain, "a.example", 200, "mine", path="/app")

        async def all_told() -> bool:
            routes = (await made.client.list(HTTP_ROUTES)).items
            gateway = await made.conditions(GATEWAYS, "entry")
            return (
                all(route.get("status", {}).get("parents") for route in routes)
                and gateway["Programmed"][0] == "True"
            )

        await eventually(all_told, SECONDS)
        refused = await made.gateway.server.settled(
            LISTENER, ROUTES, SECRET, CLUSTER, ENDPOINTS, seconds=SECONDS
        )
        assert refused == {}, "the proxy refuses nothing"
