"""How the server reaches kubelets: the flags, and where the kubelet of a node answers."""

from __future__ import annotations

import argparse
import ssl

from pybernetes.api import errors
from pybernetes.api.node_address import KUBELET_PORT, kubelet_port, preferred_address
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.proxy.forwarding import unverified
from pybernetes.control_plane.apiserver.proxy.node_access import NodeAccess
from pybernetes.control_plane.apiserver.proxy.reverse_proxy import Target
from pybernetes.lib.flags import Flag

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
    """Return how kubelets are reached, by the flags; ValueError if they make no sense."""
    secure = unverified()
    if arguments.kubelet_certificate_authority:
        secure = ssl.create_default_context(cafile=arguments.kubelet_certificate_authority)
    certificate, key = arguments.kubelet_client_certificate, arguments.kubelet_client_key
    if bool(certificate) != bool(key):
        raise ValueError("--kubelet-client-certificate and --kubelet-client-key go together")
    if certificate:
        secure.load_cert_chain(certificate, key)
    return NodeAccess(secure, tuple(arguments.kubelet_preferred_address_types))


def kubelet(context: ServerContext, node_name: str, path: str) -> Target:
    """Return where a node's kubelet answers."""
    kind = context.kinds.find("", "nodes")
    record = context.store.get(kind.key("", node_name))
    if record is None:
        raise errors.not_found("", "nodes", node_name)
    node = kind.object(record)
    address = preferred_address(node, context.nodes.address_types)
    if not address:
        known = node.get("status", {}).get("addresses", [])
        raise errors.StatusError(500, "", f"no preferred addresses found; known addresses: {known}")
    port = kubelet_port(node) or KUBELET_PORT
    secure = context.nodes.tls or unverified()
    return Target(address, port, path, secure, address, dialer=context.nodes.kubelets)
