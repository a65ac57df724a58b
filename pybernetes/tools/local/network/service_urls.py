"""Where a service of a local cluster can be reached from this machine."""

from __future__ import annotations

from urllib.parse import quote

from pybernetes.api.resource import Object
from pybernetes.tools.local.admin_client import AdminClient
from pybernetes.tools.local.network.ip_families import bracketed
from pybernetes.tools.local.paths import Cluster


class NotReachable(ValueError):
    """The service cannot be reached from outside of the cluster; the text says why."""


def urls(service: Object, nodes: list[Object], scheme: str = "http") -> list[str]:
    """Return the URLs of a service: one for each port, at its load balancer's address or at a node's."""
    spec, name = service["spec"], service["metadata"]["name"]
    balancer = service.get("status", {}).get("loadBalancer", {}).get("ingress") or []
    if balancer:
        host = balancer[0].get("ip") or balancer[0].get("hostname", "")
        return [f"{scheme}://{bracketed(host)}:{port['port']}" for port in spec.get("ports", ())]
    ports = [port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")]
    if not ports:
        raise NotReachable(
            f"the service {name} is of the type {spec['type']}, which has no address outside of the cluster; "
            f"kubectl port-forward service/{name} reaches it, or make it a NodePort"
        )
    addresses = [
        address["address"]
        for node in nodes
        for address in node.get("status", {}).get("addresses", ())
        if address["type"] == "InternalIP"
    ]
    if not addresses:
        raise NotReachable("the cluster has no node")
    return [f"{scheme}://{bracketed(addresses[0])}:{port}" for port in ports]


def find(cluster: Cluster, name: str, namespace: str, scheme: str) -> list[str]:
    """Return the URLs of a service of a running cluster."""
    api = AdminClient(cluster)
    service = api.call("GET", f"/api/v1/namespaces/{quote(namespace)}/services/{quote(name)}")
    return urls(service, api.call("GET", "/api/v1/nodes")["items"], scheme)
