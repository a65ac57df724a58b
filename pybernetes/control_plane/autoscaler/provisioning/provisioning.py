"""Finds capacity for ProvisioningRequests, keeps it for them for a while, and says so in their conditions."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, NotFound, StatusError
from pybernetes.client.refs import POD_TEMPLATES
from pybernetes.control_plane.autoscaler.cluster.simulation import Simulation
from pybernetes.control_plane.autoscaler.provisioning import provisioning_requests as requests
from pybernetes.control_plane.autoscaler.provisioning.provisioning_requests import (
    PROVISIONING_REQUESTS,
    Condition,
    NoPods,
)
from pybernetes.control_plane.autoscaler.scale_up.estimator import Equivalents
from pybernetes.control_plane.autoscaler.scale_up.scale_up_pass import Outcome
from pybernetes.runtime.cache import key_of

if TYPE_CHECKING:
    from pybernetes.control_plane.autoscaler.autoscaler import Autoscaler

log = logging.getLogger(__name__)
_TRIES = 3


class Provisioning:
    """The part of an autoscaler that looks after requests, which the informer puts into ``requests``."""

    def __init__(self, autoscaler: Autoscaler) -> None:
        self._autoscaler = autoscaler
        self.requests: dict[str, Object] = {}  # by namespace/name
        self._pods: dict[str, list[Equivalents]] = {}  # by uid: the pods of requests that matter now
        self._retry: dict[str, float] = {}  # by uid: the pause before the next try
        self._resting: dict[
            str, float
        ] = {}  # by uid: until when those are left alone of which nothing could be said

    def set(self, key: str, request: Object | None) -> bool:
        """Store a request, or remove it (None); return whether that is news."""
        known = self.requests.get(key)
        if request is None:
            if known is not None:
                self._forget(known)
                del self.requests[key]
            return known is not None
        if known is not None and _version(request) <= _version(known):
            return False  # what was written here, or is older than that
        if known is not None and known["metadata"]["uid"] != request["metadata"]["uid"]:
            self._forget(known)
        self.requests[key] = request
        return True

    def _forget(self, request: Object) -> None:
        for remembered in (self._pods, self._retry, self._resting):
            remembered.pop(request["metadata"]["uid"], None)

    def _own(self) -> list[Object]:
        """Return the requests that are this autoscaler's, the oldest first."""
        instance = self._autoscaler.options.check_capacity_processor_instance
        own = [request for request in self.requests.values() if requests.supported(request, instance)]
        return sorted(own, key=lambda request: (request["metadata"]["creationTimestamp"], key_of(request)))

    def _pause(self, request: Object) -> float:
        first = float(self._autoscaler.options.provisioning_request_initial_backoff_time)
        return self._retry.get(request["metadata"]["uid"], first)

    def _rests_until(self, request: Object) -> float:
        return self._resting.get(request["metadata"]["uid"], 0.0)

    def _let_rest(self, request: Object, now: float) -> None:
        pause = float(self._autoscaler.options.provisioning_request_initial_backoff_time)
        self._resting[request["metadata"]["uid"]] = now + max(1.0, pause)

    # -- a pass ------------------------------------------------------------------------------------------

    async def refresh(self, now: float) -> None:
        """Say what time has brought, delete what is long over, and have capacity kept for those that have it."""
        cluster = self._autoscaler.cluster
        on_nodes: Counter[str] | None = None
        cluster.bookings = []
        for request in self._own():
            rests = self._rests_until(request) > now
            said = requests.due(request, now)
            if said is None and requests.is_booked(request):
                if on_nodes is None:
                    on_nodes = Counter(
                        f"{record.pod.namespace}/{record.consumes}"
                        for record in cluster.records.values()
                        if record.consumes and record.pod.node
                    )
                if on_nodes[key_of(request)] >= requests.count(request):
                    said = requests.CONSUMED
                else:
                    try:
                        cluster.bookings += await self._pods_of(request)
                    except NoPods as error:
                        said = Condition("Failed", "True", "FailedToBookCapacity", f"Couldn't create pods, err: {error}")  # fmt: skip
            if rests:
                continue
            if said is not None:
                await self._say(request, said, now)
            elif not requests.is_open(request):
                if not requests.is_booked(request):
                    self._forget(request)
                if requests.gone_at(request) < now:
                    await self._delete(request, now)

    async def run(self, now: float, others: Outcome) -> Outcome:
        """Look for capacity for the next request, unless nodes were just added for pods: those go first."""
        ready = [
            request
            for request in self._own()
            if max(requests.try_at(request, self._pause(request)), self._rests_until(request)) < now
        ]
        if others.grew or not ready:
            return self._with_next_time(others._replace(again=others.again or bool(ready)))
        chosen = self._batch(ready)
        looked_at: list[tuple[Object, list[Equivalents]]] = []
        for request in chosen:
            self._back_off(request)
            try:
                pods = await self._pods_of(request)
            except NoPods as error:
                await self._say(request, Condition("Failed", "True", "FailedToCreatePods", str(error)), now)
                continue
            accepted = await self._say(request, requests.ACCEPTED, now) if pods else None
            if accepted is not None:
                looked_at.append((accepted, pods))
        grew = await self._provision(looked_at, now)
        again = others.again or len(ready) > len(chosen)
        return self._with_next_time(others._replace(grew=grew, waiting=others.waiting or grew, again=again))

    def _with_next_time(self, outcome: Outcome) -> Outcome:
        moments = (
            max(requests.next_moment(request, self._pause(request)), self._rests_until(request))
            for request in self._own()
        )
        return outcome._replace(next_time=min(outcome.next_time, *moments, float("inf")))

    def _batch(self, ready: list[Object]) -> list[Object]:
        """Return the requests that are looked at in this pass."""
        options = self._autoscaler.options
        if not options.check_capacity_batch_processing or not requests.checks_only(ready[0]):
            return ready[:1]
        checks = [request for request in ready if requests.checks_only(request)]
        return checks[: max(1, options.check_capacity_provisioning_request_max_batch_size)]

    def _back_off(self, request: Object) -> None:
        """Let the next try wait twice as long as this one did, if it was not the first."""
        if not requests.condition(request, "Provisioned"):
            return
        options = self._autoscaler.options
        most = float(options.provisioning_request_max_backoff_time)
        pause = self._pause(request)
        self._retry.pop(request["metadata"]["uid"], None)
        self._retry[request["metadata"]["uid"]] = min(2 * pause, most)
        while len(self._retry) > options.provisioning_request_max_backoff_cache_size:
            del self._retry[next(iter(self._retry))]

    async def _provision(self, looked_at: list[tuple[Object, list[Equivalents]]], now: float) -> bool:
        """Find capacity for requests, or have nodes added for one that wants them; return whether nodes were added."""
        own, grew = self._autoscaler, False
        if not looked_at:
            return False
        candidates = await own.scale_up.candidates(now)
        started = own.clock.monotonic()
        decided: list[tuple[Object, list[Equivalents]]] = []  # with the pods that have no room
        with Simulation(own.cluster) as simulation:
            pods = own.scale_up.pending(now)[0]
            wanted = sum(len(group) for _, groups in looked_at for group in groups)
            own.scale_up.prepare(simulation, len(pods) + wanted)
            own.scale_up.without_room(simulation, pods)
            for request, groups in looked_at:
                mark = simulation.mark()
                left = [rest for group in groups if (rest := group[simulation.settle(group) :])]
                if left:
                    simulation.undo(mark)
                decided.append((request, left))
                if (
                    own.clock.monotonic() - started
                    > own.options.check_capacity_provisioning_request_batch_timebox
                ):
                    break
        for request, left in decided:
            if not left:
                said = requests.CAPACITY_FOUND
            elif not requests.checks_only(request) and await own.scale_up.expand_for_all(left, candidates):
                said, grew = requests.CAPACITY_PROVISIONED, True
            else:
                said = requests.refusal(request)
                self._pods.pop(
                    request["metadata"]["uid"], None
                )  # those of all that wait would be too many to keep
            await self._say(request, said, own.clock.now())
        return grew

    # -- the API -----------------------------------------------------------------------------------------

    async def _pods_of(self, request: Object) -> list[Equivalents]:
        """Return the pods of a request; none if its templates cannot be read now. NoPods if there will be none."""
        meta = request["metadata"]
        if meta["uid"] not in self._pods:
            templates = {}
            for name in requests.template_names(request):
                try:
                    templates[name] = await self._autoscaler.client.get(
                        POD_TEMPLATES, name, meta["namespace"]
                    )
                except NotFound:
                    pass
                except StatusError as error:
                    log.warning("the template %s of %s cannot be read: %s", name, key_of(request), error)
                    self._let_rest(request, self._autoscaler.clock.now())
                    return []
            reader = self._autoscaler.cluster.pod_reader
            self._pods[meta["uid"]] = requests.pods_of(request, templates, reader)
        return self._pods[meta["uid"]]

    async def _say(self, request: Object, said: Condition, now: float) -> Object | None:
        """Write a condition; None if that cannot be, or the request is another by now: it is left alone for a while then."""
        meta = request["metadata"]
        try:
            for _ in range(_TRIES):
                try:
                    return await self._write(request, said, now)
                except Conflict:
                    request = await self._autoscaler.client.get(
                        PROVISIONING_REQUESTS, meta["name"], meta["namespace"]
                    )
                if request["metadata"]["uid"] != meta["uid"]:
                    return None
        except NotFound:
            return None
        except StatusError as error:
            log.warning("nothing can be said of the request %s: %s", key_of(request), error)
        self._let_rest(request, now)
        return None

    async def _write(self, request: Object, said: Condition, now: float) -> Object:
        meta = request["metadata"]
        body = {
            "metadata": {"resourceVersion": meta["resourceVersion"]},
            "status": {"conditions": requests.with_condition(request, said, now)},
        }
        made = await self._autoscaler.client.patch(
            PROVISIONING_REQUESTS, meta["name"], body, meta["namespace"], subresource="status"
        )
        log.info("%s: %s is %s: %s", key_of(made), said.type, said.status, said.reason)
        self.requests[key_of(made)] = made
        return made

    async def _delete(self, request: Object, now: float) -> None:
        meta = request["metadata"]
        try:
            await self._autoscaler.client.delete(
                PROVISIONING_REQUESTS, meta["name"], meta["namespace"], uid=meta["uid"]
            )
        except NotFound:
            pass
        except StatusError as error:
            log.warning("the old request %s could not be deleted: %s", key_of(request), error)
            self._let_rest(request, now)


def _version(request: Object) -> int:
    return int(request["metadata"]["resourceVersion"])
