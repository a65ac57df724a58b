"""TTL after finished: deletes jobs a while after they have come to their end."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import JOBS
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.lib import rfc3339
from pybernetes.runtime import Controller, split_key


def time_left(job: Object, now: float) -> float | None:
    """Return how many seconds a job has left, 0 or less if it is due; None if it is not to be deleted."""
    limit = job["spec"].get("ttlSecondsAfterFinished")
    if limit is None or "deletionTimestamp" in job["metadata"]:
        return None
    for condition in job.get("status", {}).get("conditions") or ():
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            end = condition.get("lastTransitionTime")
            return rfc3339.parse(end) + limit - now if end else None
    return None


class TtlAfterFinishedController(Controller):
    """Waits for each finished job that has a time to live."""

    name = "ttl_jobs_to_delete"
    kind = JOBS

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Return whether a job has ended and is to be deleted."""
        return new is not None and time_left(new, self.clock.now()) is not None

    async def reconcile(self, key: str) -> float | None:
        """Delete a job whose time to live is over."""
        job = self.objects.get(key)
        left = time_left(job, self.clock.now()) if job is not None else None
        if left is None or left > 0:
            return left
        namespace, name = split_key(key)
        try:
            # Its time to live may have been changed a moment ago.
            fresh = await self.client.get(JOBS, name, namespace)
            left = time_left(fresh, self.clock.now())
            if left is None or left > 0:
                return left
            uid = fresh["metadata"]["uid"]
            await self.client.delete(JOBS, name, namespace, uid=uid, propagation="Foreground")
        except NotFound:
            pass
        return None


CONTROLLER = describe(TtlAfterFinishedController, "ttl-after-finished", "ttl-after-finished")
