"""Jobs."""

from __future__ import annotations

from pybernetes.api.text.durations import human_duration
from pybernetes.lib.rfc3339 import parse as parse_time
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._pods import template
from pybernetes.tools.kubectl.describe._writer import Writer, controlled_by, shown
from pybernetes.tools.kubectl.output.times import rfc1123z
from pybernetes.tools.kubectl.resources.label_selector import show

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "batch"


def describe(writer: Writer, value: Object) -> None:
    """Write a job."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    writer.name(value)
    writer.field("Selector", show(spec.get("selector")))
    writer.marks(value)
    writer.some("Controlled By", controlled_by(value))
    writer.some("Parallelism", spec.get("parallelism"))
    writer.field("Completions", spec.get("completions", "<unset>"))
    writer.some("Completion Mode", spec.get("completionMode"))
    writer.some("Suspend", None if spec.get("suspend") is None else shown(spec["suspend"]))
    writer.some("Backoff Limit", spec.get("backoffLimit"))
    writer.some("TTL Seconds After Finished", spec.get("ttlSecondsAfterFinished"))
    start, end = status.get("startTime"), status.get("completionTime")
    if start:
        writer.field("Start Time", rfc1123z(start))
    if end:
        writer.field("Completed At", rfc1123z(end))
    if start and end:
        writer.field("Duration", human_duration(parse_time(end) - parse_time(start)))
    if spec.get("activeDeadlineSeconds") is not None:
        writer.field("Active Deadline Seconds", f"{spec['activeDeadlineSeconds']}s")
    active, succeeded, failed = (status.get(key, 0) for key in ("active", "succeeded", "failed"))
    ready = f" ({status['ready']} Ready)" if "ready" in status else ""
    writer.field("Pods Statuses", f"{active} Active{ready} / {succeeded} Succeeded / {failed} Failed")
    if spec.get("completionMode") == "Indexed":
        writer.field("Completed Indexes", _capped(status.get("completedIndexes", "")))
    template(writer, spec.get("template"))
    writer.events()


def _capped(text: str) -> str:
    if not text:
        return "<none>"
    comma = text.find(",", 50)
    return text if comma < 0 else f"{text[: comma + 1]}..."
