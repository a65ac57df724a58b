"""EndpointSlice: keeps the slices of every service that selects pods.

``plan`` says which slices there should be, ``hints`` for whom the endpoints are meant; this writes what differs.
"""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import ENDPOINT_SLICES, NODES, PODS, SERVICES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects import services
from pybernetes.control_plane.controllers._objects.deletion import (
    delete_if_present,
    is_being_deleted,
    is_namespace_terminating,
)
from pybernetes.control_plane.controllers._objects.pods import by_node, is_ready
from pybernetes.control_plane.controllers.endpointslice import hints, plan
from pybernetes.control_plane.controllers.endpointslice.metrics import EndpointSliceMetrics
from pybernetes.control_plane.controllers.endpointslice.plan import (
    MANAGER,
    ZONE,
    Plan,
)
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.cache import by_labels, key_of
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

_SLICE_CHANGE_SECONDS = 1.0


def by_service(slice_: Object) -> tuple[str, ...]:
    """Index slices of this controller by their service."""
    return plan.service_keys(slice_, MANAGER)


class EndpointSliceController(Controller):
    """Works on keys of services."""

    name = "endpointslice-controller"
    kind = SERVICES
    indexes = {
        SERVICES: (services.by_selector,),
        PODS: (by_labels, by_node),
        ENDPOINT_SLICES: (by_service,),
    }

    def __init__(self, runtime: Runtime, workers: int = 5, maximum: int = 100, batch: float = 0.0) -> None:
        self._missing: dict[str, set[str]] = {}  # services that wait for a node
        self._written: dict[str, str] = {}  # slices as this controller last wrote them
        self._topology = hints.Topology()
        self._times = services.TriggerTimes()
        self._pace = services.Pace(runtime.clock)
        super().__init__(runtime)
        self.workers, self._maximum, self._batch = workers, maximum, batch
        self._recorder = runtime.recorder("endpoint-slice-controller")
        self.counts = EndpointSliceMetrics(maximum)
        runtime.metrics.more.append(self.counts.write)
        self.cache(PODS).add_handler(self._pod_changed)
        self.cache(ENDPOINT_SLICES).add_handler(self._slice_changed)
        self.cache(NODES).add_handler(self._node_changed)

    # -- changes become keys -----------------------------------------------------------------------------

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        for key in services.affected(self.objects, old, new):
            self.enqueue(key, max(self._batch, self._pace.delay(key)))

    def _slice_changed(self, old: Object | None, new: Object | None) -> None:
        """Enqueue the service of a slice that somebody else changed; own writes come back as well and are ignored."""
        if new is None:
            self._written.pop(key_of(old), None)  # type: ignore[arg-type]
        elif self._written.get(key_of(new)) == new["metadata"]["resourceVersion"]:
            return
        for slice_ in (old, new):
            for key in by_service(slice_) if slice_ is not None else ():
                self.enqueue(key, max(self._batch, _SLICE_CHANGE_SECONDS))

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        self._topology.processors.change(old, new)
        if old is not None and new is not None:
            moved = _zone(old) != _zone(new)
            if moved:
                for pod in self.cache(PODS).find(by_node, new["metadata"]["name"]):
                    self._pod_changed(None, pod)
            if not moved and is_ready(old) == is_ready(new):
                return
        if new is not None:
            for key in self._missing.pop(new["metadata"]["name"], ()):
                self.enqueue(key)
        if self.cache(NODES).synced:
            for key in self._topology.overloaded():
                self.enqueue(key)

    # -- one service -------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> None:
        """Make the slices of a service match its pods."""
        service = self.objects.get(key)
        if service is None:  # its slices go with it
            self._times.forget(key)
            self._pace.forget(key)
            self._topology.forget(key)
            self.counts.forget(key)
            return
        if not services.has_endpoints(service):
            return
        started = self.clock.monotonic()
        pods = services.pods_of(self.cache(PODS), service)
        slices = [
            slice_
            for slice_ in self.cache(ENDPOINT_SLICES).find(by_service, key)
            if not is_being_deleted(slice_)
        ]
        time = self._times.compute(key, service, pods)
        families = plan.families(service)
        plans: list[tuple[str, list[Object], Plan]] = []
        try:
            for slice_ in slices:
                if slice_["addressType"] not in families:
                    self._topology.forget(key, slice_["addressType"])
                    await delete_if_present(self.client, ENDPOINT_SLICES, slice_)
            for family in families:
                existing = [slice_ for slice_ in slices if slice_["addressType"] == family]
                family_plan = plan.plan(service, family, pods, self.cache(NODES).get, existing, self._maximum)
                for node in family_plan.missing_nodes:
                    self._missing.setdefault(node, set()).add(key)
                events = self._topology.apply(key, family, service, family_plan)
                await self._write(service, family_plan, time)
                plans.append((family, existing, family_plan))
                for type_, reason, message in events:
                    self._recorder.event(service, type_, reason, message)
            self.counts.synced(key, service, plans)
        except StatusError as error:
            if is_namespace_terminating(error):
                return
            message = f"Error updating Endpoint Slices for Service {key}: {error.message}"
            self._recorder.warning(service, "FailedToUpdateEndpointSlices", message)
            raise
        finally:
            self._pace.worked(key, self.clock.monotonic() - started)

    async def _write(self, service: Object, todo: Plan, time: str) -> None:
        if not is_being_deleted(service):  # the slices of a service that goes are the garbage collector's
            for slice_ in todo.create:
                self._note(await self.client.create(ENDPOINT_SLICES, _stamped(slice_, time)))
        for slice_ in todo.update:
            self._note(await self.client.update(ENDPOINT_SLICES, _stamped(slice_, time)))
        for slice_ in todo.delete:
            await delete_if_present(self.client, ENDPOINT_SLICES, slice_)

    def _note(self, written: Object) -> None:
        self._written[key_of(written)] = written["metadata"]["resourceVersion"]


def _stamped(slice_: Object, time: str) -> Object:
    meta = slice_["metadata"]
    return {
        **slice_,
        "metadata": {**meta, "annotations": services.with_trigger_time(meta.get("annotations"), time)},
    }


def _zone(node: Object) -> str:
    return (node["metadata"].get("labels") or {}).get(ZONE, "")


CONTROLLER = Descriptor(
    name=EndpointSliceController.name,
    aliases=("endpointslice",),
    identity="endpointslice-controller",
    flags=(
        Flag("concurrent-service-endpoint-syncs", 5, "how many services are worked on at a time"),
        Flag("max-endpoints-per-slice", 100, "the most endpoints that a slice gets"),
        Flag("endpointslice-updates-batch-period", Seconds(0), "how long changes of pods are collected"),
    ),
    build=lambda runtime, options: EndpointSliceController(
        runtime,
        options.concurrent_service_endpoint_syncs,
        options.max_endpoints_per_slice,
        options.endpointslice_updates_batch_period,
    ),
)
