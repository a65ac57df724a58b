"""Writes the status of pods to the API server: the newest of each, one write for each change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator

from pybernetes.api.resource import Object
from pybernetes.client import Client, NotFound, StatusError, copy
from pybernetes.client.refs import PODS
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.status.status_inputs import OWN_CONDITIONS

log = logging.getLogger(__name__)
_SET_RIGHT_SECONDS = 1.0
_STATUSES = {
    "init_container": "initContainerStatuses",
    "container": "containerStatuses",
    "ephemeral_container": "ephemeralContainerStatuses",
}
_RETRY_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
# Fields that are gone have to be removed by name.
_OPTIONAL = ("reason", "message", "podIP", "ephemeralContainerStatuses", "initContainerStatuses")


def patch_of(pod: Object, status: Object, before: Object) -> Object:
    """Return the strategic merge patch from one status to the next."""
    changed = {key: value for key, value in status.items() if before.get(key) != value}
    if "conditions" in changed:
        had = {condition["type"]: condition for condition in before.get("conditions", ())}
        now = {condition["type"] for condition in status["conditions"]}
        changed["conditions"] = [
            {**{key: None for key in had.get(condition["type"], ()) if key not in condition}, **condition}
            for condition in status["conditions"]
            if had.get(condition["type"]) != condition
        ]
        changed["conditions"] += [
            {"$patch": "delete", "type": type_}
            for type_ in had
            if type_ not in now and type_ in ("PodResizePending", "PodResizeInProgress")
        ]
    if "podIPs" in changed:
        now_ips = {address["ip"] for address in status["podIPs"]}
        changed["podIPs"] = status["podIPs"] + [
            {"$patch": "delete", "ip": address["ip"]}
            for address in before.get("podIPs", ())
            if address["ip"] not in now_ips
        ]
    for key in _OPTIONAL:
        if key in before and key not in status:
            changed[key] = None
    return {"metadata": {"uid": pod["metadata"]["uid"]}, "status": changed}


def overruled(status: Object, shown: Object) -> bool:
    """Return whether the API says something else about a pod than its kubelet does.

    Of a node that was not heard from for a while, the control plane says that none of its pods is ready.
    """
    said = {condition["type"]: condition["status"] for condition in shown.get("conditions", ())}
    return any(
        condition["type"] in OWN_CONDITIONS
        and said.get(condition["type"], condition["status"]) != condition["status"]
        for condition in status.get("conditions", ())
    )


def new_terminations(old: Object, new: Object) -> Iterator[tuple[str, Object]]:
    """Return the containers that have ended since an earlier status: their sorts, and how they ended."""
    for kind, key in _STATUSES.items():
        before = {
            container["name"]
            for container in old.get(key) or ()
            if "terminated" in container.get("state", {})
        }
        for container in new.get(key) or ():
            state = container.get("state", {}).get("terminated")
            if state is not None and container["name"] not in before:
                yield kind, state


class StatusManager:
    """The statuses of a node's pods by uid. ``target`` returns the object that stands for a pod in the API."""

    def __init__(
        self,
        client: Client | None,
        clock: Clock,
        target: Callable[[Object], Object | None],
        terminated: Callable[[str, Object], None] = lambda kind, state: None,
    ) -> None:
        self._terminated = terminated  # is told of every container that ends: what it is, and how it ended
        self._client, self._clock, self._target = client, clock, target
        self._wanted: dict[str, tuple[Object, Object]] = {}
        self._written: dict[str, tuple[str, Object]] = {}  # with the uid of the object that was written
        self._doubted: set[str] = set()  # whose status in the API differs from ours
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.writes = 0

    def get(self, uid: str) -> Object | None:
        """Return the status that a pod is to have."""
        wanted = self._wanted.get(uid)
        return wanted[1] if wanted is not None else None

    def set(self, pod: Object, status: Object) -> None:
        """Have a pod's status written, if it is not what was written last."""
        meta = pod["metadata"]
        uid = meta["uid"]
        for kind, state in new_terminations(self.get(uid) or pod.get("status") or {}, status):
            self._terminated(kind, state)
        # Only what is needed to find the pod: the pod itself would soon be out of date.
        self._wanted[uid] = ({"metadata": {key: meta[key] for key in ("namespace", "name", "uid")}}, status)
        if self._client is None:
            return
        task = self._tasks.get(uid)
        if task is None or task.done():
            self._tasks[uid] = asyncio.create_task(self._write(uid), name=f"status {uid}")

    def seen(self, uid: str) -> None:
        """Look at a changed object of a pod; write the status again if somebody else overwrote it and it stays so.

        Not at once: what is seen may be older than what was written last, and two writers that disagree must not
        answer one another as fast as they can.
        """
        if uid not in self._doubted and self._is_overruled(uid):
            self._doubted.add(uid)
            self._clock.call_later(_SET_RIGHT_SECONDS, lambda: self._set_right(uid))

    def _is_overruled(self, uid: str) -> bool:
        pod, status = self._wanted.get(uid, (None, {}))
        shown = self._target(pod) if pod is not None else None
        return shown is not None and overruled(status, shown.get("status", {}))

    def _set_right(self, uid: str) -> None:
        self._doubted.discard(uid)
        task = self._tasks.get(uid)
        if task is not None and not task.done():
            self.seen(uid)
        elif self._is_overruled(uid):
            self._written.pop(uid, None)
            self.set(*self._wanted[uid])

    def forget(self, uid: str) -> None:
        """Forget a pod that is gone."""
        self._wanted.pop(uid, None)
        self._written.pop(uid, None)
        task = self._tasks.pop(uid, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def flush(self, uid: str) -> None:
        """Wait until a pod's status is written."""
        task = self._tasks.get(uid)
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Stop writing."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, uid: str) -> None:
        failures = 0
        while uid in self._wanted:
            pod, status = self._wanted[uid]
            shown = self._target(pod)
            if shown is None:
                return
            identity, before = self._written.get(uid, ("", {}))
            if identity != shown["metadata"]["uid"]:  # nothing written yet, or a mirror that was created anew
                before = shown.get("status", {})
            patch = patch_of(shown, status, before)
            if not patch["status"]:
                return
            meta = shown["metadata"]
            assert self._client is not None
            try:
                answer = await self._client.patch_status(PODS, meta["name"], patch, meta["namespace"])
            except NotFound:
                return
            except (StatusError, OSError) as error:
                if isinstance(error, StatusError) and error.code in (409, 422):
                    log.warning("the status of %s/%s was refused: %s", meta["namespace"], meta["name"], error)
                    self._written.pop(uid, None)
                    if error.code == 422 or failures >= len(_RETRY_SECONDS):
                        return
                await self._clock.sleep(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
                failures += 1
                continue
            failures = 0
            self.writes += 1
            self._written[uid] = (meta["uid"], {**copy(answer.get("status", {})), **status})
            if self._wanted.get(uid, (None, None))[1] is status:
                return
