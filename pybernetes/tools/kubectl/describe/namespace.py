"""Namespaces."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer
from pybernetes.tools.kubectl.describe.limitrange import COLUMNS, limits
from pybernetes.tools.kubectl.describe.resourcequota import SCOPES, usage
from pybernetes.tools.kubectl.output.times import rfc1123z

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""


def describe(writer: Writer, value: Object) -> None:
    """Write a namespace with its quotas and limits."""
    name, status = value["metadata"]["name"], value.get("status") or {}
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.field("Status", status.get("phase", ""))
    if status.get("conditions"):
        writer.line("Conditions:")
        writer.heading("Type", "Status", "LastTransitionTime", "Reason", "Message")
        for condition in status["conditions"]:
            moment = rfc1123z(condition.get("lastTransitionTime"))
            writer.line(
                f"{condition['type']}\t{condition['status']}\t{moment}\t{condition.get('reason', '')}\t{condition.get('message', '')}",
                1,
            )
    quotas = sorted(writer.list("resourcequotas", name), key=lambda quota: quota["metadata"]["name"])
    writer.line()
    if not quotas:
        writer.line("No resource quota.")
    else:
        writer.line("Resource Quotas")
    for quota in quotas:
        writer.field("Name", quota["metadata"]["name"], 1)
        scopes = sorted((quota.get("spec") or {}).get("scopes") or ())
        if scopes:
            writer.field("Scopes", ", ".join(scopes), 1)
            for scope in scopes:
                if scope in SCOPES:
                    writer.line(f"* {SCOPES[scope]}", 1)
        writer.heading("Resource", "Used", "Hard", dashes=("--------", "---", "---"))
        usage(writer, quota, 1)
    ranges = writer.list("limitranges", name)
    writer.line()
    if not ranges:
        writer.line("No LimitRange resource.")
        return
    writer.put("Resource Limits\n " + "\t".join(COLUMNS) + "\n")
    writer.line(" " + "\t".join("-" * len(column) for column in COLUMNS))
    for limit_range in ranges:
        limits(writer, limit_range, " ")
