"""How long finished jobs stay."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.client import NotFound
from pybernetes.client.refs import (
    JOBS,
)
from pybernetes.control_plane.controllers.ttl_after_finished import time_left
from tests.control_plane.controllers._workload.running import has
from tests.control_plane.controllers.cronjob import cron_jobs
from tests.control_plane.controllers.world import World, job
from tests.support import eventually


@pytest.mark.parametrize(
    ("job_", "expected"),
    [
        ({"spec": {}, "metadata": {}}, None),
        ({"spec": {"ttlSecondsAfterFinished": 60}, "metadata": {}}, None),
        ({**cron_jobs.job("a", "Complete"), "spec": {"ttlSecondsAfterFinished": 60}}, 60),
        ({**cron_jobs.job("a", "Failed"), "spec": {"ttlSecondsAfterFinished": 0}}, 0),
        ({**cron_jobs.job("a", "Failed"), "spec": {}}, None),
        ({**cron_jobs.job("a", "Failed"), "spec": {"ttlSecondsAfterFinished": 0}, "metadata": {"deletionTimestamp": "x"}}, None),
    ],
)  # fmt: skip
def test_time_to_live(job_: Object, expected: float | None) -> None:
    assert time_left(job_, cron_jobs.at("08:00:00")) == expected


async def test_finished_jobs_are_deleted_in_time() -> None:
    async with World(("job", "ttl-after-finished")) as world:
        await world.client.create(JOBS, job("gone", ttlSecondsAfterFinished=0))
        await world.client.create(JOBS, job("kept"))

        async def is_gone() -> bool:
            try:
                return "deletionTimestamp" in (await world.client.get(JOBS, "gone", "default"))["metadata"]
            except NotFound:
                return True

        await eventually(is_gone)
        await eventually(lambda: has(world.get(JOBS, "kept"), "Complete"))
        assert "deletionTimestamp" not in world.get(JOBS, "kept")["metadata"]
