"""What must exist in a cluster before anyone asks: the system's namespaces, roles, and the service ``kubernetes``."""

from __future__ import annotations

import logging
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.api.scheduling import GROUP as SCHEDULING
from pybernetes.api.scheduling.priorityclass import system_classes
from pybernetes.control_plane.apiserver.assembly.server_leases import ServerLeases
from pybernetes.control_plane.apiserver.assembly.settings import Settings
from pybernetes.control_plane.apiserver.authz.bootstrap_policy.reconcile import reconcile
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.services import objects
from pybernetes.control_plane.apiserver.services.allocator import ServiceAllocator
from pybernetes.control_plane.apiserver.storage.damage import left_alone
from pybernetes.control_plane.apiserver.storage.ensure import ensure
from pybernetes.control_plane.apiserver.storage.modify import KEEP, Outcome, modify
from pybernetes.control_plane.apiserver.storage.retrying_sync import RetryingSync
from pybernetes.control_plane.store.protocol import CannotSeal

log = logging.getLogger(__name__)
TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


async def prepare(context: ServerContext, settings: Settings, health: Health) -> None:
    """Make what is missing; several servers may do so at once."""
    await _ensure_namespaces(context)
    allocator = ServiceAllocator(context.store, settings.services, timestamp=context.timestamp)
    context.allocators["", "services"] = allocator
    cidr = objects.default_service_cidr(settings.services, context.timestamp())
    await ensure(context, "networking.k8s.io", "servicecidrs", "", cidr, keep_status=True)
    health.done("start-kubernetes-service-cidr-controller")
    await allocator.start()
    health.done("start-service-ip-repair-controllers")
    # Since when secrets note the use of their tokens: what cleans them up waits for long enough from then on.
    since = {"metadata": {"name": TRACKING}, "data": {"since": context.timestamp()[:10]}}
    await ensure(context, "", "configmaps", "kube-system", since)
    health.done("start-legacy-token-tracking-controller")
    await reconcile(context)
    health.done("rbac/bootstrap-roles")
    for priority_class in system_classes():
        await ensure(context, SCHEDULING, "priorityclasses", "", priority_class)
    health.done("scheduling/bootstrap-system-priority-classes")


async def announce(
    context: ServerContext, settings: Settings, port: int, health: Health, leases: ServerLeases
) -> bool:
    """Make the service ``kubernetes`` and add this server to its endpoints, once it listens.

    Return whether that could be written, which it cannot while the plug-in that encrypts it is away.
    """
    await leases.join()
    try:
        await ensure_addresses(context, settings, port, leases)
    except CannotSeal as error:
        log.error("the service kubernetes is left as it is for now: %s", error)
        return False
    finally:
        health.done("bootstrap-controller")
    return True


def upkeep(context: ServerContext, settings: Settings, port: int, leases: ServerLeases) -> RetryingSync:
    """Return what makes the namespaces and the service again when somebody deletes them."""

    async def make() -> None:
        await _ensure_namespaces(context)
        await ensure_addresses(context, settings, port, leases)

    kinds = (("", "services"), ("", "endpoints"), ("discovery.k8s.io", "endpointslices"))
    keys = [context.kinds.find(*kind).key("default", objects.KUBERNETES) for kind in kinds]
    # A service that is made again may be quicker than the one before is done with giving back its address.
    address = objects.kubernetes_service(settings.services, port)["spec"]["clusterIP"]
    keys.append(context.kinds.find("networking.k8s.io", "ipaddresses").key("", address))
    namespaces = context.kinds.find("", "namespaces")
    keys += [namespaces.key("", name) for name in NAMESPACES]
    retrying_sync = RetryingSync(make, "make what must exist")
    retrying_sync.follow(context.store, keys, deletions=True)
    return retrying_sync


async def _ensure_namespaces(context: ServerContext) -> None:
    for name in NAMESPACES:
        await ensure(context, "", "namespaces", "", {"metadata": {"name": name}})


async def ensure_addresses(
    context: ServerContext, settings: Settings, port: int, leases: ServerLeases
) -> None:
    """Make the service ``kubernetes``, with the servers that there are as its endpoints."""
    await _ensure_service(context, objects.kubernetes_service(settings.services, port))
    addresses = leases.addresses()
    await _set_endpoints(context, "", "endpoints", objects.kubernetes_endpoints, addresses, port)
    build = objects.kubernetes_endpoint_slice
    await _set_endpoints(context, "discovery.k8s.io", "endpointslices", build, addresses, port)


async def _ensure_service(context: ServerContext, service: Object) -> None:
    """Make the service ``kubernetes``, whose address no pool chooses, then note whose address that is.

    In this order, since servers that start at once all want the same address for the same service.
    """
    kind = context.kinds.find("", "services")
    await ensure(context, "", "services", "default", service, allocate=False)
    await context.fresh()
    record, allocator = context.store.get(kind.key("default", objects.KUBERNETES)), context.allocator(kind)
    if record is not None and allocator is not None:
        with left_alone():
            await allocator.note(kind.object(record))


async def _set_endpoints(
    context: ServerContext,
    group: str,
    plural: str,
    build: Callable[[list[str], int], Object],
    addresses: list[str],
    port: int,
) -> None:
    """Write the endpoints, unless they are as they should be."""
    kind = context.kinds.find(group, plural)
    key = kind.key("default", objects.KUBERNETES)
    await ensure(context, group, plural, "default", build(addresses, port))
    content = {name: value for name, value in build(addresses, port).items() if name != "metadata"}

    def change(endpoints: Object | None) -> Object | Outcome:
        if endpoints is None or {**endpoints, **content} == endpoints:
            return KEEP
        return {**endpoints, **content}

    with left_alone():
        await modify(context.store, kind, key, change)
