"""Endpoints: the older form of a service's endpoints, one object per service."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import ENDPOINTS, PODS, SERVICES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects import services
from pybernetes.control_plane.controllers._objects.deletion import delete_if_present, is_namespace_terminating
from pybernetes.control_plane.controllers.endpoints import subsets
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.cache import by_labels, key_of
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

MANAGED_BY, MANAGER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
LEADER = "control-plane.alpha.kubernetes.io/leader"


def desired(service: Object, pods: list[Object], current: Object | None, time: str) -> Object | None:
    """Return the desired Endpoints of a service, or None if nothing changes."""
    wanted = subsets.subsets(service, pods)
    full = subsets.count(wanted) > subsets.CAPACITY
    wanted = subsets.truncated(wanted)
    own = service["metadata"].get("labels") or {}
    labels = {**own, MANAGED_BY: MANAGER}
    if services.is_headless(service):
        labels[services.HEADLESS] = ""
    else:
        labels.pop(services.HEADLESS, None)
    annotations = (current or {"metadata": {}})["metadata"].get("annotations") or {}
    if (
        current is not None
        and subsets.repacked(current.get("subsets")) == wanted
        and (current["metadata"].get("labels") or {}) == labels
        and (annotations.get(OVER_CAPACITY) == "truncated") == full
    ):
        return None
    annotations = services.with_trigger_time(annotations, time)
    annotations.pop(OVER_CAPACITY, None)
    if full:
        annotations[OVER_CAPACITY] = "truncated"
    meta = service["metadata"]
    base: Object = current["metadata"] if current else {"name": meta["name"], "namespace": meta["namespace"]}
    return {
        **(current or {}),
        "metadata": {**base, "labels": labels, "annotations": annotations},
        "subsets": wanted,
    }


class EndpointsController(Controller):
    """Works on keys of services, which are those of their Endpoints."""

    name = "endpoints-controller"
    kind = SERVICES
    indexes = {SERVICES: (services.by_selector,), PODS: (by_labels,)}

    def __init__(self, runtime: Runtime, workers: int = 5, batch: float = 0.0) -> None:
        super().__init__(runtime)
        self.workers, self._batch = workers, batch
        self._times = services.TriggerTimes()
        self._pace = services.Pace(runtime.clock)
        self._recorder = runtime.recorder(MANAGER)
        self.cache(PODS).add_handler(self._pod_changed)
        self.cache(ENDPOINTS).add_handler(self._endpoints_changed)

    async def prepare(self) -> None:
        """Enqueue Endpoints whose service was deleted while this controller was not running."""
        for endpoints in self.cache(ENDPOINTS):
            if LEADER not in (endpoints["metadata"].get("annotations") or {}):
                self.enqueue(key_of(endpoints))

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        for key in services.affected(self.objects, old, new):
            self.enqueue(key, max(self._batch, self._pace.delay(key)))

    def _endpoints_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None and key_of(old) in self.objects:
            self.enqueue(key_of(old))

    async def reconcile(self, key: str) -> None:
        """Make the Endpoints of a service match its pods."""
        service = self.objects.get(key)
        current = self.cache(ENDPOINTS).get(key)
        if service is None:
            self._times.forget(key)
            self._pace.forget(key)
            if current is not None:
                await delete_if_present(self.client, ENDPOINTS, current)
            return
        if not services.has_endpoints(service):
            return
        started = self.clock.monotonic()
        pods = services.pods_of(self.cache(PODS), service)
        wanted = desired(service, pods, current, self._times.compute(key, service, pods))
        self._pace.worked(key, self.clock.monotonic() - started)
        if wanted is None:
            return
        try:
            if current is None:
                await self.client.create(ENDPOINTS, wanted)
            else:
                await self.client.update(ENDPOINTS, wanted)
        except StatusError as error:
            if is_namespace_terminating(error):
                return
            verb, what = ("create", "endpoint for service") if current is None else ("update", "endpoint")
            reason = f"FailedTo{verb.capitalize()}Endpoint"
            about = {"kind": "Endpoints", "apiVersion": "v1", "metadata": wanted["metadata"]}
            self._recorder.warning(about, reason, f"Failed to {verb} {what} {key}: {error.message}")
            raise


CONTROLLER = Descriptor(
    name=EndpointsController.name,
    aliases=("endpoint",),
    identity="endpoint-controller",
    flags=(
        Flag("concurrent-endpoint-syncs", 5, "how many services are worked on at a time"),
        Flag("endpoint-updates-batch-period", Seconds(0), "how long changes of pods are collected"),
    ),
    build=lambda runtime, options: EndpointsController(
        runtime, options.concurrent_endpoint_syncs, options.endpoint_updates_batch_period
    ),
)
