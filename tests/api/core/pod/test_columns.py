"""Pod: what a row shows."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api import table
from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.resource import Object
from tests.api.core.pod.pods import CONTAINER, make

NOW = table.epoch("2026-01-01T01:00:00Z")


def status(*states: Object, **more: Any) -> Object:
    return {
        "phase": "Running",
        "containerStatuses": [{"name": f"c{i}", **s} for i, s in enumerate(states)],
        **more,
    }


UP: Object = {"ready": True, "restartCount": 0, "state": {"running": {}}}
DONE: Object = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
CRASHED: Object = {
    "restartCount": 3,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"finishedAt": "2026-01-01T00:55:00Z"}},
}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
TWO = {"containers": [{"name": "c0", "image": "x"}, {"name": "c1", "image": "x"}]}
INIT = {
    "initContainers": [{"name": "i", "image": "x"}, {"name": "s", "image": "x", "restartPolicy": "Always"}]
}


@pytest.mark.parametrize(
    ("spec", "state", "metadata", "expected"),
    [
        ({}, {"phase": "Pending"}, {}, ["0/1", "Pending", "0"]),
        (TWO, status(UP, UP), {}, ["2/2", "Running", "0"]),
        (TWO, status(UP, CRASHED), {}, ["1/2", "CrashLoopBackOff", "3 (5m ago)"]),
        (TWO, status(UP, DONE, **READY), {}, ["1/2", "Running", "0"]),
        (TWO, status(UP, DONE), {}, ["1/2", "NotReady", "0"]),
        ({}, status({"state": {"terminated": {"exitCode": 2}}}), {}, ["0/1", "ExitCode:2", "0"]),
        ({}, status({"state": {"terminated": {"exitCode": 2, "signal": 9}}}), {}, ["0/1", "Signal:9", "0"]),
        ({}, status(UP), {"deletionTimestamp": "2026-01-01T00:00:00Z"}, ["1/1", "Terminating", "0"]),
        ({}, {"phase": "Failed", "reason": "Evicted"}, {"deletionTimestamp": "x"}, ["0/1", "Evicted", "0"]),
        ({}, {"phase": "Running", "reason": "NodeLost"}, {"deletionTimestamp": "x"}, ["0/1", "Unknown", "0"]),
        ({"schedulingGates": [{"name": "g"}]},
         {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}, {},
         ["0/1", "SchedulingGated", "0"]),
        (INIT, {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]}, {},
         ["0/2", "Init:0/2", "0"]),
        (INIT, {"initContainerStatuses": [{"name": "i", **CRASHED}]}, {},
         ["0/2", "Init:CrashLoopBackOff", "3 (5m ago)"]),
        (INIT, {"initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 3}}}]}, {},
         ["0/2", "Init:ExitCode:3", "0"]),
        (INIT, status(UP, initContainerStatuses=[{"name": "i", "restartCount": 7, **DONE},
                                                 {"name": "s", "started": True, **UP}]), {},
         ["2/2", "Running", "0"]),
    ],
)  # fmt: skip
def test_row(spec: Object, state: Object, metadata: Object, expected: list[str]) -> None:
    pod = {
        "metadata": {"name": "p", **metadata},
        "spec": {"containers": [CONTAINER], **spec},
        "status": state,
    }
    assert table.cells(RESOURCE.columns, pod, NOW)[1:4] == expected


def test_columns() -> None:
    assert [(column.name, column.priority) for column in RESOURCE.columns] == [
        ("Name", 0), ("Ready", 0), ("Status", 0), ("Restarts", 0), ("Age", 0),
        ("IP", 1), ("Node", 1), ("Nominated Node", 1), ("Readiness Gates", 1),
    ]  # fmt: skip
    pod = make({"creationTimestamp": "2026-01-01T00:58:00Z"}, nodeName="n",
               readinessGates=[{"conditionType": "a"}, {"conditionType": "b"}])  # fmt: skip
    pod["status"] |= {"podIPs": [{"ip": "10.0.0.1"}], "conditions": [{"type": "b", "status": "True"}]}
    assert table.cells(RESOURCE.columns, pod, NOW)[4:] == ["2m", "10.0.0.1", "n", "<none>", "1/2"]
    assert table.cells(RESOURCE.columns, make(), NOW)[5:] == ["<none>"] * 4
