"""Config maps."""

from __future__ import annotations

import base64

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""


def describe(writer: Writer, value: Object) -> None:
    """Write a config map with its contents."""
    writer.name(value)
    writer.marks(value)
    writer.put("\nData\n====\n")
    data = value.get("data") or {}
    for key in sorted(data):
        writer.put(f"{key}:\n----\n{data[key]}\n\n")
    writer.put("\nBinaryData\n====\n")
    binary = value.get("binaryData") or {}
    for key in sorted(binary):
        writer.line(f"{key}: {len(base64.b64decode(binary[key]))} bytes")
    writer.line()
    writer.events()
