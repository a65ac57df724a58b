"""Cron jobs."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._pods import template
from pybernetes.tools.kubectl.describe._writer import Writer, truth
from pybernetes.tools.kubectl.output.times import rfc1123z
from pybernetes.tools.kubectl.resources.label_selector import show

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "batch"


def describe(writer: Writer, value: Object) -> None:
    """Write a cron job and the template of its jobs."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    writer.name(value)
    writer.marks(value)
    writer.field("Schedule", spec.get("schedule", ""))
    writer.field("Concurrency Policy", spec.get("concurrencyPolicy", ""))
    writer.field("Suspend", truth(spec.get("suspend")))
    writer.field("Time Zone", spec.get("timeZone", "<unset>"))
    writer.field("Successful Job History Limit", spec.get("successfulJobsHistoryLimit", "<unset>"))
    writer.field("Failed Job History Limit", spec.get("failedJobsHistoryLimit", "<unset>"))
    deadline = spec.get("startingDeadlineSeconds")
    writer.field("Starting Deadline Seconds", "<unset>" if deadline is None else f"{deadline}s")
    inner = (spec.get("jobTemplate") or {}).get("spec") or {}
    writer.field("Selector", show(inner["selector"]) if inner.get("selector") else "<unset>")
    writer.field("Parallelism", inner.get("parallelism", "<unset>"))
    writer.field("Completions", inner.get("completions", "<unset>"))
    if inner.get("activeDeadlineSeconds") is not None:
        writer.field("Active Deadline Seconds", f"{inner['activeDeadlineSeconds']}s")
    template(writer, inner.get("template"))
    last = status.get("lastScheduleTime")
    writer.field("Last Schedule Time", rfc1123z(last) if last else "<unset>")
    writer.field(
        "Active Jobs", ", ".join(job.get("name", "") for job in status.get("active") or ()) or "<none>"
    )
    writer.events()
