"""Services."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._endpoints import endpoints
from pybernetes.tools.kubectl.describe._writer import Writer, label_text

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""


def describe(writer: Writer, value: Object) -> None:
    """Write a service and where it leads."""
    metadata, spec = value["metadata"], value.get("spec") or {}
    slices = writer.list(
        "endpointslices.discovery.k8s.io", metadata.get("namespace", ""),
        labels=f"kubernetes.io/service-name={metadata['name']}",
    )  # fmt: skip
    writer.name(value)
    writer.marks(value)
    writer.field("Selector", label_text(spec.get("selector")))
    writer.field("Type", spec.get("type", ""))
    writer.some("IP Family Policy", spec.get("ipFamilyPolicy"))
    writer.field("IP Families", ",".join(spec.get("ipFamilies") or ()) or "<none>")
    writer.field("IP", spec.get("clusterIP", ""))
    writer.field("IPs", ",".join(spec.get("clusterIPs") or ()) or "<none>")
    writer.some("External IPs", ",".join(spec.get("externalIPs") or ()))
    writer.some("Desired LoadBalancer IP", spec.get("loadBalancerIP"))
    writer.some("External Name", spec.get("externalName"))
    ingress = ((value.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    writer.some("LoadBalancer Ingress", ", ".join(_ingress(point) for point in ingress))
    for port in spec.get("ports") or ():
        name, protocol = port.get("name") or "<unset>", port.get("protocol", "")
        writer.line(f"Port:\t{name}\t{port.get('port')}/{protocol}")
        writer.field("TargetPort", f"{port.get('targetPort', 0)}/{protocol}")
        writer.some("AppProtocol", port.get("appProtocol"))
        if port.get("nodePort"):
            writer.line(f"NodePort:\t{name}\t{port['nodePort']}/{protocol}")
        writer.field("Endpoints", endpoints(slices, port.get("name") or ""))
    writer.field("Session Affinity", spec.get("sessionAffinity", ""))
    writer.some("External Traffic Policy", spec.get("externalTrafficPolicy"))
    writer.some("Internal Traffic Policy", spec.get("internalTrafficPolicy"))
    writer.some("HealthCheck NodePort", spec.get("healthCheckNodePort") or None)
    writer.some("LoadBalancer Source Ranges", ",".join(spec.get("loadBalancerSourceRanges") or ()))
    writer.some("Traffic Distribution", spec.get("trafficDistribution"))
    writer.events()


def _ingress(value: Object) -> str:
    if value.get("ip"):
        return f"{value['ip']} ({value['ipMode']})" if value.get("ipMode") else value["ip"]
    return value.get("hostname", "")
