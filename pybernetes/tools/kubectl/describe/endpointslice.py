"""Endpoint slices."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, shown

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "discovery.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write an endpoint slice."""
    writer.name(value)
    writer.marks(value)
    writer.field("AddressType", value.get("addressType", ""))
    if not value.get("ports"):
        writer.line("Ports: <unset>")
    else:
        writer.line("Ports:")
        writer.heading("Name", "Port", "Protocol")
        for port in value["ports"]:
            number = port.get("port")
            writer.line(
                f"{port.get('name') or '<unset>'}\t{'<unset>' if number is None else number}\t{port.get('protocol')}",
                1,
            )
    if not value.get("endpoints"):
        writer.line("Endpoints: <none>")
    else:
        writer.line("Endpoints:")
        for endpoint in value["endpoints"]:
            _endpoint(writer, endpoint)
    writer.events()


def _endpoint(writer: Writer, value: Object) -> None:
    writer.field("- Addresses", ", ".join(value.get("addresses") or ()) or "<none>", 1)
    writer.line("Conditions:", 2)
    ready = (value.get("conditions") or {}).get("ready")
    writer.field("Ready", "<unset>" if ready is None else shown(ready), 3)
    writer.field("Hostname", value.get("hostname", "<unset>"), 2)
    target = value.get("targetRef")
    if target:
        writer.field("TargetRef", f"{target.get('kind', '')}/{target.get('name', '')}", 2)
    writer.field("NodeName", value.get("nodeName", "<unset>"), 2)
    writer.field("Zone", value.get("zone", "<unset>"), 2)
