"""CronJobs against a real API server and hollow nodes."""

from __future__ import annotations

from typing import Any

from pybernetes.client.refs import (
    CRON_JOBS,
    JOBS,
)
from tests.control_plane.controllers._workload.running import status
from tests.control_plane.controllers.world import World, job
from tests.support import eventually


async def test_cron_jobs_make_jobs_and_forget_them() -> None:
    async with World(("cronjob", "job", "ttl-after-finished")) as world:
        given = {
            "metadata": {"name": "tick", "namespace": "default"},
            "spec": {
                "schedule": "@every 1s",
                "successfulJobsHistoryLimit": 1,
                "jobTemplate": {"spec": job("x")["spec"]},
            },
        }
        await world.client.create(CRON_JOBS, given)
        made: set[str] = set()
        world.view.informers.get(JOBS).add_handler(lambda _, new: made.add(new["metadata"]["name"]) if new else None)  # fmt: skip
        await eventually(lambda: made)
        first = next(iter(made))
        assert first.startswith("tick-")

        async def seen() -> Any:
            return status(await world.client.get(CRON_JOBS, "tick", "default")).get("lastSuccessfulTime")

        await eventually(seen)
