"""Service accounts."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""


def describe(writer: Writer, value: Object) -> None:
    """Write a service account."""
    writer.name(value)
    writer.marks(value)
    prefix = "Image pull secrets:"
    for name in [secret.get("name", "") for secret in value.get("imagePullSecrets") or ()] or ["<none>"]:
        writer.line(f"{prefix}\t{name}")
        prefix = " " * len(prefix)
    writer.events()
