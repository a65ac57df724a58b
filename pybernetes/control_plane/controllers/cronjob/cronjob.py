"""CronJob: what to do is decided in ``plan``; here it is done."""

from __future__ import annotations

from pybernetes.api.batch.cronjob import cron
from pybernetes.api.resource import Object
from pybernetes.client.errors import AlreadyExists, StatusError
from pybernetes.client.refs import CRON_JOBS, JOBS
from pybernetes.control_plane.controllers._objects.deletion import is_namespace_terminating, report_deletion
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers.cronjob import schedule
from pybernetes.control_plane.controllers.cronjob.plan import Plan, plan, started
from pybernetes.lib import rfc3339
from pybernetes.lib.metrics.counts import Histograms, exponential
from pybernetes.runtime import Controller, Runtime, by_controller, key_of
from pybernetes.runtime.owned_objects import is_controlled_by, owner_reference


class CronJobController(Controller):
    """Makes and deletes the jobs that the plan says."""

    name = "cronjob"
    kind = CRON_JOBS
    owns = (JOBS,)
    indexes = {JOBS: (by_controller,)}

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.recorder = runtime.recorder("cronjob-controller")
        self.skew = Histograms("cronjob_controller_job_creation_skew_duration_seconds",
                               "Time between when a cronjob is scheduled to be run, and when the corresponding job is created",
                               exponential(1, 2, 10))  # fmt: skip
        runtime.metrics.more.append(self.skew.write)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Restart the count when the schedule changes, so that missed times of the new one are not made up for."""
        if old is None or new is None:
            return True
        before, after = (
            (cron_job["spec"]["schedule"], cron_job["spec"].get("timeZone")) for cron_job in (old, new)
        )
        if before == after:
            return True
        try:
            delay = schedule.wait(new, schedule.Timetable(new), self.clock.now())
        except (cron.CronError, LookupError, ValueError):
            text = f"unparseable schedule for cronjob: {new['spec']['schedule']}"
            self.recorder.warning(new, "UnParseableCronJobSchedule", text)
            return False
        if delay is not None:
            self.enqueue(key_of(new), delay)
        return False

    async def reconcile(self, key: str) -> float | None:
        """Create the job that is due, and delete old ones."""
        cron_job = self.objects.get(key)
        if cron_job is None:
            return None
        jobs = self.cache(JOBS)
        todo = plan(
            cron_job, jobs.find(by_controller, cron_job["metadata"]["uid"]), owner_reference(cron_job, CRON_JOBS),
            self.clock.now(), lambda link: f"{link['namespace']}/{link['name']}" in jobs,
        )  # fmt: skip
        for event in todo.events:
            self.recorder.event(cron_job, *event)
        for job in todo.delete:
            await self._delete(cron_job, job)
        status = todo.status
        if todo.create is not None:
            made = await self._create(cron_job, todo)
            if made is not None:
                status = started(status, made, todo.due)
        if not status.get("active"):
            status.pop("active", None)
        if status != cron_job.get("status", {}):
            await self.client.update_status(CRON_JOBS, {**cron_job, "status": status})
        return todo.again

    async def _create(self, cron_job: Object, todo: Plan) -> Object | None:
        """Create a job, or find it created: its name tells the time that it is for."""
        assert todo.create is not None
        meta = todo.create["metadata"]
        try:
            made = await self.client.create(JOBS, todo.create)
        except AlreadyExists:
            there = await self.client.get(JOBS, meta["name"], meta["namespace"])
            known = any(reference["uid"] == there["metadata"]["uid"] for reference in todo.status["active"])
            return there if is_controlled_by(there, cron_job) and not known else None
        except StatusError as error:
            if not is_namespace_terminating(error):
                self.recorder.warning(cron_job, "FailedCreate", f"Error creating job: {error}")
            raise
        self.recorder.normal(cron_job, "SuccessfulCreate", f"Created job {meta['name']}")
        self.skew.observe(rfc3339.parse(made["metadata"]["creationTimestamp"]) - todo.due)
        return made

    async def _delete(self, cron_job: Object, job: Object) -> None:
        meta = job["metadata"]
        deletion = self.client.delete(JOBS, meta["name"], meta["namespace"], propagation="Background")
        done = f"Deleted job {meta['name']}"
        await report_deletion(deletion, self.recorder, cron_job, failed="Deleted job", done=done)


CONTROLLER = describe(CronJobController, "cronjob", "cron-job")
