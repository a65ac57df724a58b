"""Endpoints."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""


def describe(writer: Writer, value: Object) -> None:
    """Write endpoints, subset by subset."""
    writer.name(value)
    writer.marks(value)
    writer.line("Subsets:")
    for subset in value.get("subsets") or ():
        for title, key in (("Addresses", "addresses"), ("NotReadyAddresses", "notReadyAddresses")):
            writer.field(title, ",".join(address["ip"] for address in subset.get(key) or ()) or "<none>", 1)
        if subset.get("ports"):
            writer.line("Ports:", 1)
            writer.heading("Name", "Port", "Protocol", level=2)
            for port in subset["ports"]:
                writer.line(f"{port.get('name') or '<unset>'}\t{port.get('port')}\t{port.get('protocol')}", 2)
        writer.line()
    writer.events()
