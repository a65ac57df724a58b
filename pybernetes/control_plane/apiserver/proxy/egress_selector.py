"""Which way connections of the server go: the file of ``--egress-selector-config-file``, and the dialers that it names."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from os.path import exists
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from pybernetes.api.field import Errors, Path
from pybernetes.api.strict_types import STRING, Many, Problem, Struct, aggregate, read_document, read_file
from pybernetes.control_plane.apiserver.proxy.node_access import NodeAccess
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.connect_dialer import ConnectDialer, ProxyServer
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.metrics.counts import Counters, Histograms
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.network.names import Names
from pybernetes.lib.tls import tls

FLAGS = (
    Flag("egress-selector-config-file", "", "file that says through which proxies nodes, webhooks and etcd are reached"),
)  # fmt: skip
CLUSTER, CONTROL_PLANE, ETCD = "cluster", "controlplane", "etcd"
_NAMES = (CLUSTER, CONTROL_PLANE, ETCD)
_DIRECT, _CONNECT, _GRPC = "Direct", "HTTPConnect", "GRPC"
_PROTOCOLS = (_DIRECT, _CONNECT, _GRPC)
_SCHEME = "k8s.io/apiserver/pkg/server/egressselector/config.go:33"
_TLS = ("caBundle", "clientKey", "clientCert", "tlsServerName")
_BOUNDS = (0.005, 0.025, 0.1, 0.5, 2.5, 12.5)
_PREFIX = "apiserver_egress_dialer_dial_"


def _document(version: str) -> Struct:
    secure = Struct(f"{version}.TLSConfig", dict.fromkeys(_TLS, STRING))
    tcp = Struct(f"{version}.TCPTransport", {"url": STRING, "tlsConfig": secure})
    transport = Struct(
        f"{version}.Transport", {"tcp": tcp, "uds": Struct(f"{version}.UDSTransport", {"udsName": STRING})}
    )
    connection = Struct(f"{version}.Connection", {"proxyProtocol": STRING, "transport": transport})
    selection = Struct(f"{version}.EgressSelection", {"name": STRING, "connection": connection})
    fields = {"kind": STRING, "apiVersion": STRING, "egressSelections": Many(selection)}
    return Struct(f"{version}.EgressSelectorConfiguration", fields)


_KINDS = {
    (f"apiserver.k8s.io/{version}", "EgressSelectorConfiguration"): _document(version)
    for version in ("v1beta1", "v1alpha1")
}


class EgressSelector:
    """The ways that the file names; connections for which it names none go as they would without it."""

    def __init__(self, selections: Mapping[str, Any] = MappingProxyType({})) -> None:
        labels = ("protocol", "transport")
        self._starts = Counters(f"{_PREFIX}start_total", "Dials through proxies that were begun.", labels)
        self._durations = Histograms(
            f"{_PREFIX}duration_seconds", "Seconds that dials through proxies took.", _BOUNDS, labels
        )
        self._failures = Counters(
            f"{_PREFIX}failure_count", "Dials through proxies that failed.", (*labels, "stage")
        )
        self._dialers = {name: self._dialer(connection) for name, connection in selections.items()}

    def get(self, name: str) -> Dialer | None:
        """Return the dialer of a selection; None if the file has none of that name."""
        return self._dialers.get(name)

    def proxied(self, name: str) -> Dialer | None:
        """Return the dialer of a selection that goes through a proxy, or None."""
        dialer = self.get(name)
        return dialer if isinstance(dialer, ConnectDialer) else None

    def lead(self, nodes: NodeAccess) -> None:
        """Have nodes, pods and services reached by the way of the cluster, and webhooks by that of the control plane."""
        cluster = self.proxied(CLUSTER)
        if cluster is not None:
            nodes.kubelets = nodes.dialer = cluster
        nodes.control_plane = self.of_control_plane()

    def of_control_plane(self) -> Dialer | None:
        """Return the way to servers beside this one; None if no selection has to do with it."""
        return self.get(CONTROL_PLANE) or self._beside()

    def of_issuer(self, selection: str) -> Dialer | None:
        """Return the way to an issuer of tokens; ValueError if the file does not have the selection."""
        if not selection:
            return self._beside()
        if not self._dialers:
            raise ValueError(f'oidc: egress lookup required with egress selector type "{selection}"')
        dialer = self.get(selection)
        if dialer is None:
            raise ValueError(f'oidc: egress lookup for "{selection}" is not configured')
        return dialer

    def _beside(self) -> Dialer | None:
        """Return a way past the proxy of the cluster; None if there is none: the usual one is good."""
        return None if self.proxied(CLUSTER) is None else Dialer(Names())

    def _dialer(self, connection: Mapping[str, Any]) -> Dialer:
        if connection.get("proxyProtocol") == _DIRECT:
            return Dialer(Names())
        transport = connection["transport"]
        if "uds" in transport:
            proxy, labels = ProxyServer(path=transport["uds"]["udsName"]), ("http_connect", "uds")
        else:
            proxy, labels = _proxy(transport["tcp"]), ("http_connect", "tcp")

        def ended(seconds: float, stage: str) -> None:
            if stage:
                self._failures.add(*labels, stage)
            else:
                self._durations.observe(seconds, *labels)

        return ConnectDialer(proxy, lambda: self._starts.add(*labels), ended)

    def render(self, text: Exposition) -> None:
        """Write the metrics."""
        for metric in (self._starts, self._durations, self._failures):
            metric.write(text)


def load(path: str) -> EgressSelector:
    """Read the file; ValueError says in upstream's words what is wrong with it."""
    if not exists(path):
        raise ValueError(f"egress-selector-config-file {path} does not exist")
    try:
        document = read_document(read_file(path), _KINDS, _SCHEME)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ValueError(
            f'failed to read egress selector config: unable to read egress selector configuration from "{path}" [open {path}: {why}]'
        ) from None
    except Problem as problem:
        raise ValueError(f"failed to read egress selector config: {problem}") from None
    selections = document.get("egressSelections") or []
    problems = check(selections)
    if problems:
        listed = aggregate([str(problem) for problem in problems])
        raise ValueError(f"failed to validate egress selector configuration: {listed}")
    for selection in selections:
        if selection["connection"]["proxyProtocol"] == _GRPC:
            raise ValueError(
                f"{path}: egressSelections {selection['name']}: proxyProtocol GRPC is not supported: use HTTPConnect"
            )
    try:
        return EgressSelector(
            {selection["name"].lower(): selection["connection"] for selection in selections}
        )
    except (OSError, ValueError) as error:
        raise ValueError(f"failed to setup egress selector: {error}") from None


def check(selections: list[dict[str, Any]]) -> Errors:
    """Return what is wrong with the selections."""
    problems, path, seen = Errors(), Path("service") / "connection", set[str]()
    for selection in selections:
        connection = selection.get("connection") or {}
        protocol, transport = connection.get("proxyProtocol", ""), connection.get("transport")
        if protocol == _DIRECT:
            if transport is not None:
                problems.invalid(path / "transport", "direct", "config must be absent for direct connect")
        elif protocol not in _PROTOCOLS:
            problems.unsupported(path / "protocol", protocol, _PROTOCOLS)
        elif transport is None:
            problems.required(path / "transport", f"transport must be set for {protocol}")
        else:
            _check_transport(transport, protocol, path, problems)
    for number, selection in enumerate(selections):
        name = selection.get("name", "").lower()
        if name in seen:
            problems.duplicate(path[number], name)
        elif name not in _NAMES:
            problems.unsupported(path, name, _NAMES)
        seen.add(name)
    return problems


def _check_transport(transport: dict[str, Any], protocol: str, path: Path, problems: Errors) -> None:
    tcp, uds = transport.get("tcp"), transport.get("uds")
    if protocol == _GRPC and uds is None:
        problems.required(path / "uds", "UDS must be set with GRPC")
    elif protocol == _CONNECT and tcp is not None and uds is not None:
        problems.invalid(path / "tcp", tcp, "TCP and UDS cannot both be set")
    elif protocol == _CONNECT and tcp is None and uds is None:
        problems.required(path / "tcp", "One of TCP or UDS must be set")
    elif uds is not None:
        if not uds.get("udsName"):
            problems.invalid(path / "udsName", "nil", "must be present for UDS connections")
    elif tcp is not None:
        _check_tcp(tcp, path, problems)


def _check_tcp(tcp: dict[str, Any], path: Path, problems: Errors) -> None:
    url, secure = tcp.get("url", ""), tcp.get("tlsConfig")
    if url.startswith("http://"):
        if secure is not None:
            problems.invalid(path / "tlsConfig", "nil", "config must not be present when using HTTP")
        return
    if not url.startswith("https://"):
        problems.invalid(path / "url", url, "supported connection protocols are http:// and https://")
        return
    path = path / "tlsConfig"
    if secure is None:
        problems.required(path, "TLSConfig must be present when using HTTPS")
        return
    authority = secure.get("caBundle", "")
    if authority and not exists(authority):
        problems.invalid(path / "caBundle", authority, "TLS config ca bundle does not exist")
    for field, what, absent in (
        ("clientCert", "cert", "Using TLS requires clientCert"),
        ("clientKey", "key", "Using TLS requires requires clientKey"),
    ):
        if not secure.get(field):
            problems.invalid(path / field, "nil", absent)
        elif not exists(secure[field]):
            problems.invalid(path / field, secure[field], f"TLS client {what} does not exist")


def _proxy(tcp: dict[str, Any]) -> ProxyServer:
    """Return the proxy of a URL; OSError or ValueError if it cannot be reached like that."""
    parts = urlsplit(tcp["url"])
    if not parts.hostname:
        raise ValueError(f"invalid proxy server url {tcp['url']!r}: it names no host")
    secure, context, name = tcp.get("tlsConfig"), None, ""
    if secure is not None:
        try:
            context = tls.client_context(
                secure.get("caBundle") or None, certificate=secure["clientCert"], key=secure["clientKey"]
            )
        except ssl.SSLError as error:
            files = f"{secure['clientCert']} & {secure['clientKey']}"
            raise ValueError(f"failed to read key pair {files}, got {error.reason or error}") from None
        name = secure.get("tlsServerName", "")
    return ProxyServer(parts.hostname, parts.port or (443 if context else 80), "", context, name)
