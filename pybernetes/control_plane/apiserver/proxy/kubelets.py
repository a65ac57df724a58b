"""How the server reaches kubelets, pods and services."""

from __future__ import annotations

import argparse
import ssl
from urllib.parse import quote

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.validation.addresses import parse_sloppy
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.proxy.node_access import NodeAccess
from pybernetes.control_plane.apiserver.proxy.reverse_proxy import ProxyError, Target, forward
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.server_connection import Answer

KUBELET_PORT = 10250
FLAGS = (
    Flag("kubelet-client-certificate", "", "certificate that kubelets know this server by"),
    Flag("kubelet-client-key", "", "its key"),
    Flag(
        "kubelet-certificate-authority",
        "",
        "authority of the kubelets' certificates; not checked without one",
    ),
    Flag(
        "kubelet-preferred-address-types", NodeAccess().address_types, "which addresses of nodes to try first"
    ),
)


def access(arguments: argparse.Namespace) -> NodeAccess:
    """How the flags say that kubelets are reached; ValueError if that makes no sense."""
    context = unverified()
    if arguments.kubelet_certificate_authority:
        context = ssl.create_default_context(cafile=arguments.kubelet_certificate_authority)
    certificate, key = arguments.kubelet_client_certificate, arguments.kubelet_client_key
    if bool(certificate) != bool(key):
        raise ValueError("--kubelet-client-certificate and --kubelet-client-key go together")
    if certificate:
        context.load_cert_chain(certificate, key)
    return NodeAccess(context, tuple(arguments.kubelet_preferred_address_types))


def kubelet(api: ServerContext, node_name: str, path: str) -> Target:
    """Where a node's kubelet answers."""
    kind = api.kinds.find("", "nodes")
    record = api.store.get(kind.key("", node_name))
    if record is None:
        raise errors.not_found("", "nodes", node_name)
    node = kind.object(record)
    address = preferred_address(node, api.nodes.address_types)
    if not address:
        known = node.get("status", {}).get("addresses", [])
        raise errors.StatusError(500, "", f"no preferred addresses found; known addresses: {known}")
    status = node.get("status", {}).get("daemonEndpoints", {}).get("kubeletEndpoint", {})
    return Target(address, status.get("Port") or KUBELET_PORT, path, api.nodes.tls or unverified(), address)


def preferred_address(node: Object, types: tuple[str, ...]) -> str:
    """The first address of the first type that the node has."""
    addresses = node.get("status", {}).get("addresses", ())
    for wanted in types:
        for address in addresses:
            if address.get("type") == wanted and address.get("address"):
                return address["address"]
    return ""


def is_global(address: str) -> bool:
    """Whether an address is one machine's that others reach too: no loopback, link-local or group address."""
    found = parse_sloppy(address)
    if found is None:
        return False
    return not (found.is_loopback or found.is_link_local or found.is_multicast or found.is_unspecified
                or address == "255.255.255.255")  # fmt: skip


def unverified() -> ssl.SSLContext:
    """TLS to a server whose certificate nobody signed: pods behind the proxy, kubelets without an authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def pass_on(request: Request, target: Target, *, whole_refusals: bool = False) -> Answer:
    """Passes the request on; 503 if there is nobody to pass it to."""
    target.headers.setdefault(b"x-forwarded-for", _peer(request))
    try:
        return await forward(request, target, whole_refusals=whole_refusals)
    except ProxyError as error:
        raise errors.unavailable(f"error trying to reach service: {error}") from None


def _peer(request: Request) -> bytes:
    peer = request.connection.transport.get_extra_info("peername")
    return str(peer[0]).encode() if peer else b""


def with_query(path: str, query: str) -> str:
    """A path, escaped again, and the query that came with it."""
    escaped = quote(path, safe="/:@!$&'()*+,;=-._~")
    return f"{escaped}?{query}" if query else escaped
