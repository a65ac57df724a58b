"""The egress selector: what is wrong with its file, and a server whose connections all go through proxies."""

from __future__ import annotations

import base64
import json
import ssl
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.control_plane.apiserver.proxy.egress_selector import (
    CLUSTER,
    CONTROL_PLANE,
    EgressSelector,
    load,
)
from pybernetes.control_plane.apiserver.proxy.node_access import NodeAccess
from pybernetes.lib.http.connect_dialer import ConnectDialer
from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.authn.jwt.openid_provider import providing
from tests.control_plane.apiserver.authn.jwt.test_server import believed, who, write
from tests.control_plane.store.etcd_server import etcd
from tests.lib.http.connect_proxy import ConnectProxy, proxying
from tests.loopback_server import JsonHandler, loopback_server, secure, served
from tests.servers import running

pytestmark = pytest.mark.slow
UDS = {"udsName": "/run/proxy.sock"}


def selection(name: str, protocol: str, **transport: Any) -> dict[str, Any]:
    connection: dict[str, Any] = {"proxyProtocol": protocol}
    if transport:
        connection["transport"] = transport
    return {"name": name, "connection": connection}


def written(path: Path, *selections: dict[str, Any], version: str = "apiserver.k8s.io/v1beta1") -> Path:
    document = {
        "apiVersion": version,
        "kind": "EgressSelectorConfiguration",
        "egressSelections": list(selections),
    }
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize(
    ("selections", "text"),
    [
        ([selection("cluster", "Direct", uds=UDS)], 'service.connection.transport: Invalid value: "direct": config must be absent for direct connect'),
        ([selection("cluster", "SOCKS")], 'service.connection.protocol: Unsupported value: "SOCKS": supported values: "Direct", "HTTPConnect", "GRPC"'),
        ([selection("cluster", "HTTPConnect")], "service.connection.transport: Required value: transport must be set for HTTPConnect"),
        ([selection("cluster", "HTTPConnect", tcp={"url": "http://a"}, uds=UDS)], "TCP and UDS cannot both be set"),
        ([selection("cluster", "HTTPConnect", tcp={"url": "a:1"})], 'service.connection.url: Invalid value: "a:1": supported connection protocols are http:// and https://'),
        ([selection("cluster", "HTTPConnect", tcp={"url": "http://a", "tlsConfig": {}})], "config must not be present when using HTTP"),
        ([selection("cluster", "HTTPConnect", tcp={"url": "https://a"})], "service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS"),
        ([selection("cluster", "HTTPConnect", tcp={"url": "https://a", "tlsConfig": {"caBundle": "/none", "clientKey": "/none"}})],
         'tlsConfig.caBundle: Invalid value: "/none": TLS config ca bundle does not exist'),
        ([selection("cluster", "HTTPConnect", uds={})], 'service.connection.udsName: Invalid value: "nil": must be present for UDS connections'),
        ([selection("cluster", "GRPC", tcp={"url": "http://a"})], "UDS must be set with GRPC"),
        ([selection("cluster", "GRPC", uds=UDS)], "egressSelections cluster: proxyProtocol GRPC is not supported"),
        ([selection("cluster", "Direct"), selection("Cluster", "Direct")], 'service.connection[1]: Duplicate value: "cluster"'),
        ([selection("master", "Direct")], 'service.connection: Unsupported value: "master": supported values: "cluster", "controlplane", "etcd"'),
        ([{"name": "cluster", "conection": {}}], 'unknown field "egressSelections[0].conection"'),
    ],
)  # fmt: skip
def test_what_is_wrong(selections: list[dict[str, Any]], text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as failure:
        load(str(written(tmp_path / "egress.yaml", *selections)))
    assert text in str(failure.value)


def test_files_of_other_sorts(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        load(str(tmp_path / "none"))
    with pytest.raises(
        ValueError, match='no kind "EgressSelectorConfiguration" is registered for version "v1"'
    ):
        load(str(written(tmp_path / "egress.yaml", version="v1")))


def test_who_goes_where(tmp_path: Path) -> None:
    """Only what is named goes through a proxy; issuers only where their configuration asks for it."""
    path = written(
        tmp_path / "egress.yaml", selection("Cluster", "HTTPConnect", uds=UDS), selection("etcd", "Direct")
    )
    selector, nodes = load(str(path)), NodeAccess()
    selector.lead(nodes)
    assert isinstance(nodes.dialer, ConnectDialer) and nodes.kubelets is nodes.dialer
    assert nodes.control_plane is not None and not isinstance(nodes.control_plane, ConnectDialer)
    assert selector.proxied("etcd") is None and selector.get("etcd") is not None
    assert selector.of_issuer(CLUSTER) is nodes.dialer and not isinstance(
        selector.of_issuer(""), ConnectDialer
    )
    with pytest.raises(ValueError, match='oidc: egress lookup for "controlplane" is not configured'):
        selector.of_issuer(CONTROL_PLANE)
    with pytest.raises(ValueError, match='oidc: egress lookup required with egress selector type "cluster"'):
        EgressSelector().of_issuer(CLUSTER)
    plain = NodeAccess()
    usual = plain.dialer
    EgressSelector().lead(plain)
    assert plain.dialer is usual and plain.control_plane is None


class Hello(JsonHandler):
    """A kubelet and a webhook, in a way."""

    def do_GET(self) -> None:
        self.reply(b'"hello"')

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {
            "uid": review["request"]["uid"],
            "allowed": False,
            "status": {"message": "the webhook was here"},
        }
        self.reply(json.dumps({**review, "response": answer}).encode())


def test_a_server_behind_proxies(tmp_path: Path) -> None:
    """etcd over a Unix socket, the cluster over TLS with certificates of both, the control plane over TCP."""
    certificate, key, authority = tls.ensure_serving(tmp_path / "proxies", ["127.0.0.1"], "proxy")
    client = tmp_path / "client.crt", tmp_path / "client.key"
    tls.ensure_client(client[0], client[1], tmp_path / "proxies", "kube-apiserver")
    known = tls.server_context(certificate, key, client_ca=authority)
    known.verify_mode = ssl.CERT_REQUIRED
    with ExitStack() as stack:
        (member,) = stack.enter_context(etcd(tmp_path / "etcd"))
        provider = stack.enter_context(providing(tmp_path))
        hello = loopback_server(Hello)
        trusted = secure(hello, tmp_path, "hello")
        stack.enter_context(served(hello))
        port = hello.server_address[1]
        store = stack.enter_context(proxying(ConnectProxy(), tmp_path / "etcd.sock"))
        cluster = stack.enter_context(proxying(ConnectProxy(), context=known))
        plane = stack.enter_context(proxying(ConnectProxy()))
        secured = {"caBundle": str(authority), "clientCert": str(client[0]), "clientKey": str(client[1])}
        egress = written(
            tmp_path / "egress.yaml",
            selection("etcd", "HTTPConnect", uds={"udsName": str(tmp_path / "etcd.sock")}),
            selection(
                "cluster",
                "HTTPConnect",
                tcp={"url": f"https://127.0.0.1:{cluster.port}", "tlsConfig": secured},
            ),
            selection("controlplane", "HTTPConnect", tcp={"url": f"http://127.0.0.1:{plane.port}"}),
        )
        issuers, entry = tmp_path / "authentication.yaml", believed(provider)
        entry["issuer"]["egressSelectorType"] = "controlplane"
        write(issuers, jwt=[entry])
        server = stack.enter_context(running(
            tmp_path, f"--etcd-servers={member.address}", f"--egress-selector-config-file={egress}",
            f"--authentication-config={issuers}",
        ))  # fmt: skip
        assert set(store.targets) == {member.address.removeprefix("http://")}
        assert who(server, provider.token())["username"] == "oidc:jane"
        assert provider.url.removeprefix("https://") in plane.targets
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        assert server.call("POST", "/api/v1/nodes", {"metadata": {"name": "far"}, "status": status})[0] == 201
        pod = {
            "metadata": {"name": "p"},
            "spec": {"nodeName": "far", "containers": [{"name": "c", "image": "i"}]},
        }
        assert server.call("POST", "/api/v1/namespaces/default/pods", pod)[0] == 201
        assert server.call("GET", "/api/v1/namespaces/default/pods/p/log") == (200, "hello")
        assert cluster.targets == [f"127.0.0.1:{port}"]
        hook = {
            "name": "hook.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": f"https://127.0.0.1:{port}/", "caBundle": base64.b64encode(trusted.read_bytes()).decode()},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
        }  # fmt: skip
        path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        assert server.call("POST", path, {"metadata": {"name": "hook"}, "webhooks": [hook]})[0] == 201
        refused = server.call("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "x"}})
        assert "the webhook was here" in str(refused)
        assert f"127.0.0.1:{port}" in plane.targets and len(cluster.targets) == 1
        text = server.call("GET", "/metrics")[1]
        for transport in ("tcp", "uds"):
            assert (
                f'apiserver_egress_dialer_dial_duration_seconds_count{{protocol="http_connect",transport="{transport}"}}'
                in text
            )
