"""Service: has the cloud make a load balancer for each Service of type LoadBalancer, and writes its address down."""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Sequence

from pybernetes.api.resource import Object
from pybernetes.client.client import STRATEGIC_PATCH
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import NODES, SERVICES
from pybernetes.control_plane.cloud.controllers._shared import CLUSTER_NAME, cloud_of
from pybernetes.control_plane.cloud.controllers.service import balanced
from pybernetes.control_plane.cloud.controllers.service.service_metrics import ServiceMetrics
from pybernetes.control_plane.cloud.provider import (
    CloudError,
    ImplementedElsewhere,
    Ingress,
    LoadBalancers,
    TryAgainLater,
)
from pybernetes.lib.flags import Flag
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.controller_manager.descriptor import Descriptor
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)


class ServiceController(Controller):
    """Works on keys of services. What was done for each is remembered, so that only differences are asked for."""

    name = "service-lb-controller"
    kind = SERVICES
    first_delay, longest_delay = 5.0, 300.0

    def __init__(self, runtime: Runtime, balancers: LoadBalancers, options: Namespace) -> None:
        self._balancers, self._cluster = balancers, options.cluster_name
        self._calls = cloud_of(options)[1]
        self.workers = options.concurrent_service_syncs
        self._services: dict[str, Object] = {}  # those that may have a load balancer, as they were last seen
        self._done: dict[str, Object] = {}  # what of them the cloud has been told
        self._behind: dict[str, dict[str, Object]] = {}  # what it knows of the nodes behind them
        super().__init__(runtime)
        self.cache(NODES).add_handler(self._node_changed)
        self._recorder = runtime.recorder("service-controller")
        self._metrics = ServiceMetrics()
        runtime.metrics.more.append(self._metrics.write)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            return True
        if old is None:
            return balanced.wants_load_balancer(new) or balanced.needs_cleanup(new)
        if not balanced.wants_load_balancer(old) and not balanced.wants_load_balancer(new):
            return balanced.needs_cleanup(new)
        return balanced.essence(old) != balanced.essence(new) or balanced.needs_cleanup(new)

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        before, after = (
            balanced.facts([node] if node and balanced.is_included(node) else []) for node in (old, new)
        )
        if before != after:
            for key in self._services:
                self.enqueue(key)

    async def reconcile(self, key: str) -> float | None:
        """Make the load balancer of a service what it should be."""
        service, known = self.objects.get(key), self._services.get(key)
        if known is not None and (service is None or service["metadata"]["uid"] != known["metadata"]["uid"]):
            await self._delete_of_lost(key, known)  # it went without waiting for its load balancer
        if service is None:
            return None
        try:
            if balanced.wants_load_balancer(service) and not balanced.needs_cleanup(service):
                self._services[key] = service
                await self._ensure(key, service)
            elif known is not None or balanced.has_finalizer(service):
                await self._clean_up(service)
                self._forget(key)
        except (CloudError, ValueError) as error:
            self._recorder.warning(service, "SyncLoadBalancerFailed", f"Error syncing load balancer: {error}")
            if isinstance(error, TryAgainLater):
                return error.seconds
            raise
        return None

    def _forget(self, key: str) -> None:
        for remembered in (self._services, self._done, self._behind):
            remembered.pop(key, None)

    # -- what there is to be done --------------------------------------------------------------------------

    async def _ensure(self, key: str, service: Object) -> None:
        nodes = [node for node in self.cache(NODES).values() if balanced.is_included(node)]
        essence, behind = balanced.essence(service), balanced.facts(nodes)
        if self._done.get(key) == essence:
            if self._behind[key] != behind:
                await self._update(service, nodes)
                self._behind[key] = behind
            return
        self._recorder.normal(service, "EnsuringLoadBalancer", "Ensuring load balancer")
        if not balanced.has_finalizer(service):
            await self._write_finalizers(service, add=True)
        self._warn_of_no_nodes(service, nodes)
        self._metrics.syncs += 1
        try:
            call = self._balancers.ensure(self._cluster, service, nodes)
            ingresses = await self._calls.ask("ensure_load_balancer", call)
        except ImplementedElsewhere:
            log.debug("another controller cares for the load balancer of %s", key)
        except CloudError as error:
            message = f"failed to ensure load balancer: {error}"
            if isinstance(error, TryAgainLater):
                raise TryAgainLater(message, error.seconds) from error
            raise CloudError(message) from error
        else:
            lacking = balanced.shortage(service, ingresses)
            if any(ingress.ip or ingress.hostname for ingress in ingresses):
                await self._write_status(service, ingresses)
            if lacking:  # what it had it keeps
                raise CloudError(f"failed to ensure load balancer: {lacking}")
            self._recorder.normal(service, "EnsuredLoadBalancer", "Ensured load balancer")
        self._done[key], self._behind[key] = essence, behind

    async def _update(self, service: Object, nodes: Sequence[Object]) -> None:
        """Tell the cloud which nodes there are now."""
        names = [node["metadata"]["name"] for node in nodes]
        self._metrics.syncs += 1
        began = self.clock.monotonic()
        try:
            call = self._balancers.update(self._cluster, service, nodes)
            await self._calls.ask("update_load_balancer", call)
        except ImplementedElsewhere:
            return
        except CloudError as error:
            self._metrics.errors += 1
            if (
                await self._calls.ask("get_load_balancer", self._balancers.get(self._cluster, service))
                is None
            ):
                # It is gone: it is made anew.
                self._done.pop(f"{service['metadata']['namespace']}/{service['metadata']['name']}", None)
                raise
            self._recorder.warning(
                service,
                "UpdateLoadBalancerFailed",
                f"Error updating load balancer with new hosts {balanced.listed(names)} "
                f"[node names limited, total number of nodes: {len(names)}], error: {error}",
            )
            raise
        finally:
            self._metrics.observe(self.clock.monotonic() - began)
        if not self._warn_of_no_nodes(service, nodes):
            self._recorder.normal(service, "UpdatedLoadBalancer", "Updated load balancer with new hosts")

    async def _clean_up(self, service: Object) -> None:
        """Remove what the cloud has for a service, then let the service go."""
        try:
            existing = await self._calls.ask("get_load_balancer", self._balancers.get(self._cluster, service))
        except CloudError as error:
            raise CloudError(f"failed to check if load balancer exists before cleanup: {error}") from error
        if existing is not None:
            self._recorder.normal(service, "DeletingLoadBalancer", "Deleting load balancer")
            try:
                await self._calls.ask("delete_load_balancer", self._balancers.delete(self._cluster, service))
            except ImplementedElsewhere:
                log.debug("another controller removes the load balancer")
            except CloudError as error:
                raise CloudError(f"failed to delete load balancer: {error}") from error
        if "deletionTimestamp" not in service["metadata"]:
            await self._write_status(service, ())
        if balanced.has_finalizer(service):
            await self._write_finalizers(service, add=False)
        self._recorder.normal(service, "DeletedLoadBalancer", "Deleted load balancer")

    async def _delete_of_lost(self, key: str, service: Object) -> None:
        self._recorder.normal(service, "DeletingLoadBalancer", "Deleting load balancer")
        try:
            await self._calls.ask("delete_load_balancer", self._balancers.delete(self._cluster, service))
        except CloudError as error:
            message = f"Error deleting load balancer: {error}"
            self._recorder.warning(service, "DeleteLoadBalancerFailed", message)
            raise
        self._recorder.normal(service, "DeletedLoadBalancer", "Deleted load balancer")
        self._forget(key)

    def _warn_of_no_nodes(self, service: Object, nodes: Sequence[Object]) -> bool:
        if not nodes:
            message = "There are no available nodes for LoadBalancer"
            self._recorder.warning(service, "UnAvailableLoadBalancer", message)
        return not nodes

    # -- what is written to the service --------------------------------------------------------------------

    async def _write_status(self, service: Object, ingresses: Sequence[Ingress]) -> None:
        entries = [ingress.as_status() for ingress in ingresses]
        present = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
        if present != entries:
            await self._patch(service, {"status": {"loadBalancer": {"ingress": entries or None}}})

    async def _write_finalizers(self, service: Object, *, add: bool) -> None:
        # Of a set nothing but the difference is said: others may have changed it, too.
        name = "finalizers" if add else "$deleteFromPrimitiveList/finalizers"
        await self._patch(service, {"metadata": {name: [balanced.FINALIZER]}})

    async def _patch(self, service: Object, patch: Object) -> None:
        meta = service["metadata"]
        patch.setdefault("metadata", {})["uid"] = meta["uid"]  # not another one of its name
        try:
            await self.client.patch(
                SERVICES, meta["name"], patch, meta["namespace"], type=STRATEGIC_PATCH, subresource="status"
            )
        except NotFound:
            pass


def build(runtime: Runtime, options: Namespace) -> ServiceController | None:
    """Build the loop; return None if the cloud has no load balancers."""
    balancers = cloud_of(options)[0].load_balancers
    if options.concurrent_service_syncs < 1:
        raise ValueError("concurrent-service-syncs must be a positive number")
    if balancers is None:
        log.error("the cloud provider does not support external load balancers")
        return None
    return ServiceController(runtime, balancers, options)


CONTROLLER = Descriptor(
    name=ServiceController.name,
    aliases=("service",),
    identity="service-controller",
    flags=(Flag("concurrent-service-syncs", 1, "how many services are worked on at once"), CLUSTER_NAME),
    build=build,
)
