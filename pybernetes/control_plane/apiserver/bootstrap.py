"""What must exist in a cluster before anyone asks: the system's namespaces, roles and the service that is
the API server."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from pybernetes.api.resource import Object
from pybernetes.api.scheduling import GROUP as SCHEDULING
from pybernetes.api.scheduling.priorityclass import system_classes
from pybernetes.control_plane.apiserver import writes
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.authz.policy.reconcile import reconcile
from pybernetes.control_plane.apiserver.health import Health
from pybernetes.control_plane.apiserver.keeper import Keeper
from pybernetes.control_plane.apiserver.masters import Masters
from pybernetes.control_plane.apiserver.options import WriteOptions
from pybernetes.control_plane.apiserver.services import objects
from pybernetes.control_plane.apiserver.services.allocator import ServiceAllocator
from pybernetes.control_plane.store.protocol import Conflict, KeyExists, NotFound

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.server import Settings

TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
_OURSELVES = WriteOptions(manager="kube-apiserver")
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


async def prepare(api: Api, settings: Settings, health: Health) -> None:
    """Makes what is missing; several servers may do so at once."""
    await _ensure_namespaces(api)
    hook = health.add_hook("start-service-ip-repair-controllers")
    allocator = ServiceAllocator(api.store, settings.services, timestamp=api.timestamp)
    api.allocators["", "services"] = allocator
    cidr = objects.default_service_cidr(settings.services, api.timestamp())
    await ensure(api, "networking.k8s.io", "servicecidrs", "", cidr, keep_status=True)
    await allocator.start()
    hook.done()
    hook = health.add_hook("start-legacy-token-tracking-controller")
    # Since when secrets note the use of their tokens: what cleans them up waits for long enough from then on.
    since = {"metadata": {"name": TRACKING}, "data": {"since": api.timestamp()[:10]}}
    await ensure(api, "", "configmaps", "kube-system", since)
    hook.done()
    hook = health.add_hook("rbac/bootstrap-roles")
    await reconcile(api)
    hook.done()
    hook = health.add_hook("scheduling/bootstrap-system-priority-classes")
    for priority_class in system_classes():
        await ensure(api, SCHEDULING, "priorityclasses", "", priority_class)
    hook.done()


async def announce(api: Api, settings: Settings, port: int, health: Health, masters: Masters) -> None:
    """Makes the service ``kubernetes`` and adds this server to its endpoints, once it listens."""
    hook = health.add_hook("bootstrap-controller")
    await masters.join()
    await ensure_addresses(api, settings, port, masters)
    hook.done()


def upkeep(api: Api, settings: Settings, port: int, masters: Masters) -> Keeper:
    """Makes the namespaces and the service again that somebody deletes."""

    async def make() -> None:
        await _ensure_namespaces(api)
        await ensure_addresses(api, settings, port, masters)

    kinds = (("", "services"), ("", "endpoints"), ("discovery.k8s.io", "endpointslices"))
    keys = [api.kinds.find(*kind).key("default", objects.KUBERNETES) for kind in kinds]
    # A service that is made again may be quicker than the one before is done with giving back its address.
    address = objects.kubernetes_service(settings.services, port)["spec"]["clusterIP"]
    keys.append(api.kinds.find("networking.k8s.io", "ipaddresses").key("", address))
    namespaces = api.kinds.find("", "namespaces")
    keys += [namespaces.key("", name) for name in NAMESPACES]
    keeper = Keeper(make, "make what must exist")
    keeper.follow(api.store, keys, deletions=True)
    return keeper


async def _ensure_namespaces(api: Api) -> None:
    for name in NAMESPACES:
        await ensure(api, "", "namespaces", "", {"metadata": {"name": name}})


async def ensure_addresses(api: Api, settings: Settings, port: int, masters: Masters) -> None:
    """Makes the service ``kubernetes``, and its endpoints those servers that there are."""
    await _ensure_service(api, objects.kubernetes_service(settings.services, port))
    addresses = masters.addresses()
    await _set_endpoints(api, "", "endpoints", objects.kubernetes_endpoints, addresses, port)
    build = objects.kubernetes_endpoint_slice
    await _set_endpoints(api, "discovery.k8s.io", "endpointslices", build, addresses, port)


async def _ensure_service(api: Api, service: Object) -> None:
    """Makes the service ``kubernetes``, whose address no pool chooses, and then notes whose address that is.

    In this order, since servers that start at once all want the same address for the same service.
    """
    kind = api.kinds.find("", "services")
    await ensure(api, "", "services", "default", service, allocate=False)
    await api.fresh()
    record, allocator = api.store.get(kind.key("default", objects.KUBERNETES)), api.allocator(kind)
    if record is not None and allocator is not None:
        await allocator.note(kind.object(record))


async def _set_endpoints(
    api: Api,
    group: str,
    plural: str,
    build: Callable[[list[str], int], Object],
    addresses: list[str],
    port: int,
) -> None:
    """Writes the endpoints, unless they are as they should be."""
    kind = api.kinds.find(group, plural)
    key = kind.key("default", objects.KUBERNETES)
    wanted = build(addresses, port)
    while True:
        record = api.store.get(key)
        if record is None:
            await ensure(api, group, plural, "default", wanted)
            return
        obj = kind.object(record)
        content = {name: value for name, value in wanted.items() if name != "metadata"}
        if {**obj, **content} == obj:
            return
        obj.update(content)
        try:
            await api.store.update(key, kind.encode(obj), record.revision)
            return
        except (Conflict, NotFound):
            await api.fresh()


async def ensure(
    api: Api,
    group: str,
    plural: str,
    namespace: str,
    obj: Object,
    *,
    keep_status: bool = False,
    allocate: bool = True,
) -> None:
    """Creates an object unless it exists, with its status if that is to be kept."""
    kind = api.kinds.find(group, plural)
    resource = kind.resource
    key = kind.key(namespace, obj["metadata"]["name"])
    if api.store.get(key) is not None:
        return
    obj = {"kind": resource.kind, "apiVersion": resource.api_version, **obj}
    metadata = obj["metadata"]
    if namespace:
        metadata["namespace"] = namespace
    metadata["uid"], metadata["creationTimestamp"] = str(uuid.uuid4()), api.timestamp()
    if resource.default is not None:
        resource.default(obj)
    writes.own_fields(api, resource, None, obj, _OURSELVES, "")
    status = obj.get("status")
    with suppress(KeyExists):
        writes.prepare_create(resource, obj)
        if keep_status and status is not None:
            obj["status"] = status
        if not allocate:
            await api.store.create(key, kind.encode(obj))
            return
        async with writes.allocated(api, kind, obj, None, False):
            await api.store.create(key, kind.encode(obj))
