"""cluster-info: where the cluster's services are."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Display cluster information"
USAGE = "cluster-info [flags]"
FLAGS = ()
_MORE = "\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'."


def run(context: Context) -> None:
    """Print the addresses of the control plane and of services that are marked as the cluster's."""
    server = context.client.access.server
    namespace = context.flags.namespace or "kube-system"
    labels = "kubernetes.io/cluster-service=true"
    discovery = context.discovery
    discovery.category("services")
    try:
        listed = context.client.list(discovery.find("services"), namespace, chunk=0, labels=labels)
    except CommandError:
        context.out(_MORE)
        raise
    services = listed.get("items") or []
    context.out(f"Kubernetes control plane is running at {server}")
    for service in services:
        metadata, ports = service["metadata"], (service.get("spec") or {}).get("ports") or []
        name = metadata["name"]
        ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
        if ingress:
            host = ingress[0].get("ip") or ingress[0].get("hostname")
            link = "".join(f"http://{host}:{port['port']} " for port in ports)
        else:
            target = name
            if ports:
                secure = "https" if ports[0].get("name") == "https" or ports[0]["port"] == 443 else ""
                port_name = ports[0].get("name", "")
                target = (
                    f"{secure}:{name}:{port_name}" if secure else f"{name}:{port_name}" if port_name else name
                )
            link = f"{server}/api/v1/namespaces/{metadata['namespace']}/services/{target}/proxy"
        context.out(
            f"{(metadata.get('labels') or {}).get('kubernetes.io/name') or name} is running at {link}"
        )
    context.out(_MORE)
