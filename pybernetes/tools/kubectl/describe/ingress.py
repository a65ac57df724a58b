"""Ingresses."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._endpoints import endpoints
from pybernetes.tools.kubectl.describe._writer import Writer
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "networking.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write an ingress and where it leads."""
    metadata, spec = value["metadata"], value.get("spec") or {}
    namespace = metadata.get("namespace", "")
    writer.field("Name", metadata.get("name", ""))
    writer.labels("Labels", metadata.get("labels"))
    writer.field("Namespace", namespace)
    ingress = ((value.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    writer.field(
        "Address",
        ",".join(sorted({address.get("ip") or address.get("hostname") or "" for address in ingress} - {""})),
    )
    writer.field("Ingress Class", spec.get("ingressClassName", "<none>"))
    default = (
        _backend(writer, namespace, spec["defaultBackend"]) if spec.get("defaultBackend") else "<default>"
    )
    writer.field("Default backend", default)
    if spec.get("tls"):
        writer.line("TLS:")
        for tls in spec["tls"]:
            hosts = ",".join(tls.get("hosts") or ())
            writer.line(
                f"{tls['secretName']} terminates {hosts}" if tls.get("secretName") else f"SNI routes {hosts}",
                1,
            )
    writer.put("Rules:\n  Host\tPath\tBackends\n")
    writer.line("----\t----\t--------", 1)
    rules = [rule for rule in spec.get("rules") or () if rule.get("http")]
    for rule in rules:
        writer.line(f"{rule.get('host') or '*'}\t", 1)
        for path in rule["http"].get("paths") or ():
            writer.line(f"\t{path.get('path', '')} \t{_backend(writer, namespace, path['backend'])}", 2)
    if not rules:
        writer.line(f"*\t*\t{default}", 1)
    writer.annotations("Annotations", metadata.get("annotations"))
    writer.events()


def _backend(writer: Writer, namespace: str, backend: Object) -> str:
    service = backend.get("service")
    if not service:
        ref = backend.get("resource")
        if not ref:
            return ""
        return f"APIGroup: {ref.get('apiGroup', '<none>')}, Kind: {ref.get('kind')}, Name: {ref.get('name')}"
    port = service.get("port") or {}
    text = f"{service.get('name')}:{port.get('number') or port.get('name', '')}"
    slices = writer.list(
        "endpointslices.discovery.k8s.io",
        namespace,
        labels=f"kubernetes.io/service-name={service.get('name')}",
    )
    context = writer.context
    try:
        target = context.client.get(context.discovery.find("services"), namespace, service["name"])
    except CommandError as error:
        return f"{text} (<error: {error.message}>)"
    name = ""
    for service_port in (target.get("spec") or {}).get("ports") or ():
        if port.get("number") == service_port.get("port") or (
            port.get("name") and port["name"] == service_port.get("name")
        ):
            name = service_port.get("name") or ""
    return f"{text} ({endpoints(slices, name)})"
