"""Resource quotas."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""

SCOPES = {
    "Terminating": "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being actively terminated by the system.",
    "NotTerminating": "Matches all pods that do not have an active deadline. These pods usually include long running pods whose container command is not expected to terminate.",
    "BestEffort": "Matches all pods that do not have resource requirements set. These pods have a best effort quality of service.",
    "NotBestEffort": "Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed quality of service.",
}  # fmt: skip


def describe(writer: Writer, value: Object) -> None:
    """Write a quota."""
    writer.name(value)
    scopes = sorted((value.get("spec") or {}).get("scopes") or ())
    if scopes:
        writer.field("Scopes", ", ".join(scopes))
        for scope in scopes:
            if scope in SCOPES:
                writer.line(f" * {SCOPES[scope]}")
    writer.heading("Resource", "Used", "Hard", level=0)
    usage(writer, value, 0)


def usage(writer: Writer, value: Object, level: int) -> None:
    """Write the used part of each limit."""
    status = value.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    for name in sorted(hard):
        writer.line(f"{name}\t{used.get(name, '0')}\t{hard[name]}", level)
