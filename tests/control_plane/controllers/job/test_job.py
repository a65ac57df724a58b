"""Jobs against a real API server and hollow nodes."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    JOBS,
)
from tests.control_plane.controllers._workload.running import has, status
from tests.control_plane.controllers.world import World, job
from tests.support import eventually

FINALIZER = "batch.kubernetes.io/job-tracking"


@pytest.mark.parametrize(
    ("given", "type_", "expected"),
    [
        (job("j"), "Complete", {"succeeded": 1}),
        (job("j", completions=5, parallelism=2), "Complete", {"succeeded": 5}),
        (job("j", completions=4, parallelism=4, completionMode="Indexed"), "Complete",
         {"succeeded": 4, "completedIndexes": "0-3"}),
        (job("j", ["false"], backoffLimit=0), "Failed", {"failed": 1}),
        (job("j", ["sleep", "1000"], activeDeadlineSeconds=1), "Failed", {"failed": 1}),
        (job("j", ["false"], completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=0,
             maxFailedIndexes=1), "Failed", {}),
        (job("j", ["sh", "-c", "exit 42"], completions=3, parallelism=1,
             podFailurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}),
         "Failed", {"failed": 1}),
    ],
)  # fmt: skip
async def test_jobs_come_to_their_end(given: Object, type_: str, expected: Object) -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, given)
        done = await eventually(lambda: j if has(j := world.get(JOBS, "j"), type_) else None)
        final = status(done)
        assert {name: final.get(name) for name in expected} == expected
        assert final.get("active", 0) == 0 and not final["uncountedTerminatedPods"]
        # The last finalizers go after the last word.
        await eventually(lambda: not any(FINALIZER in pod["metadata"].get("finalizers", ()) for pod in world.pods()))  # fmt: skip


async def test_a_job_is_suspended_and_resumed() -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, job("j", ["sleep", "1000"], completions=2, parallelism=2))
        await eventually(lambda: status(world.get(JOBS, "j")).get("ready") == 2)
        await world.client.patch(JOBS, "j", {"spec": {"suspend": True}}, "default")
        await eventually(lambda: has(world.get(JOBS, "j"), "Suspended") and not world.pods(active=False))
        await world.client.patch(JOBS, "j", {"spec": {"suspend": False}}, "default")
        await eventually(lambda: status(world.get(JOBS, "j")).get("ready") == 2)


async def test_pods_of_a_job_that_is_gone_are_let_go() -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, job("j", ["sleep", "1000"]))
        await eventually(lambda: status(world.get(JOBS, "j")).get("ready") == 1)
        await world.client.delete(JOBS, "j", "default", propagation="Background")
        await eventually(lambda: FINALIZER not in world.pods()[0]["metadata"].get("finalizers", ()))


async def test_a_job_that_somebody_else_manages_is_left_alone() -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, job("theirs", managedBy="example.com/other"))
        await world.client.create(JOBS, job("ours"))
        await eventually(lambda: has(world.get(JOBS, "ours"), "Complete"))
        assert world.pods("theirs") == [] and not status(world.get(JOBS, "theirs")).get("active")
