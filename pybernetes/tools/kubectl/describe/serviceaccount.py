"""Service accounts."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.describe._writer import Writer

GROUP = ""


def describe(writer: Writer, value: dict[str, Any]) -> None:
    """Write a service account."""
    writer.name(value)
    writer.marks(value)
    prefix = "Image pull secrets:"
    for name in [secret.get("name", "") for secret in value.get("imagePullSecrets") or ()] or ["<none>"]:
        writer.line(f"{prefix}\t{name}")
        prefix = " " * len(prefix)
    writer.events()
