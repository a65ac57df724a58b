"""Jobs and their pods for tables."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job import template
from pybernetes.control_plane.controllers.job.backoff import Record
from pybernetes.control_plane.controllers.job.outcome import Done
from pybernetes.control_plane.controllers.job.policies import FINALIZER
from tests.control_plane.controllers.builders import meta, pod, stamp
from tests.control_plane.controllers.builders import template as pod_template

INDEX = template.INDEX
CALM, NOTHING = Record(), Done()


def job(
    completions: int | None = 1, parallelism: int = 1, *, status: Object | None = None, **spec: Any
) -> Object:
    result = {
        "metadata": meta("job"),
        "spec": {"parallelism": parallelism, "backoffLimit": 6, "template": pod_template(), **spec},
        "status": status or {"startTime": stamp(60)},
    }
    if completions is not None:
        result["spec"]["completions"] = completions
    return result


def indexed(completions: int = 3, parallelism: int = 3, **more: Any) -> Object:
    return job(completions, parallelism, completionMode="Indexed", **more)


def run(name: str, phase: str = "Running", index: int | None = None, **more: Any) -> Object:
    more.setdefault("finalizers", [FINALIZER])
    notes = more.pop("annotations", {})
    if index is not None:
        notes = {INDEX: str(index), **notes}
    if phase == "Failed":
        more.setdefault("exit_code", 1)
    return pod(name, phase=phase, annotations=notes, **more)


def names(pods: list[Object]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


POLICY = {
    "rules": [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [7]}},
        {"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [1], "containerName": "main"}},
    ]
}
DISRUPTED: Any = {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}
