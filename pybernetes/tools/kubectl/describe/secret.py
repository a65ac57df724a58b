"""Secrets: sizes, never contents."""

from __future__ import annotations

import base64

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""


def describe(writer: Writer, value: Object) -> None:
    """Write a secret."""
    writer.name(value)
    writer.marks(value)
    kind = value.get("type", "")
    writer.put(f"\nType:\t{kind}\n")
    writer.put("\nData\n====\n")
    data = value.get("data") or {}
    for key in sorted(data):
        content = base64.b64decode(data[key] or "")
        if key == "token" and kind == "kubernetes.io/service-account-token":
            writer.field(key, content.decode("utf-8", "replace"))
        else:
            writer.field(key, f"{len(content)} bytes")
