"""CronJobs and jobs for tables."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from tests.control_plane.controllers.builders import meta


def at(text: str) -> float:
    return rfc3339.parse(f"2026-03-10T{text}Z")


def cron_job(text: str = "*/10 * * * *", *, created: str = "08:05:00", last: str = "", active: Any = (), **spec: Any) -> Object:  # fmt: skip
    status: Object = {}
    if last:
        status["lastScheduleTime"] = f"2026-03-10T{last}Z"
    if active:
        status["active"] = [
            {"kind": "Job", "name": name, "namespace": "default", "uid": f"uid-{name}"} for name in active
        ]
    template = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"template": {}}}
    return {
        "metadata": {**meta("tick"), "creationTimestamp": f"2026-03-10T{created}Z"},
        "spec": {
            "schedule": text, "timeZone": "UTC", "concurrencyPolicy": "Allow", "jobTemplate": template, **spec,
        },
        "status": status,
    }  # fmt: skip


def job(name: str, end: str = "", start: str = "08:00:00", completed: str = "") -> Object:
    status: Object = {"startTime": f"2026-03-10T{start}Z"}
    if end:
        status["conditions"] = [{"type": end, "status": "True", "lastTransitionTime": "2026-03-10T08:00:00Z"}]
    if completed:
        status["completionTime"] = f"2026-03-10T{completed}Z"
    return {"metadata": meta(name), "spec": {}, "status": status}
