"""The names of a cluster: follows Services, EndpointSlices and Namespaces, and keeps their records in a table."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import ENDPOINT_SLICES, NAMESPACES, PODS, SERVICES
from pybernetes.lib.clock import Clock
from pybernetes.node.dns import records
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.imported_names import IMPORT_NAME, ImportedNames
from pybernetes.node.dns.records import SOURCE_CLUSTER
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.informer import Informer

_SERVICE_NAME = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class NameOptions:
    """Which names a cluster has."""

    zone: str = "cluster.local"
    ttl: int = 30
    pods: str = "disabled"  # or insecure: any address has a name; or verified: those of pods
    namespaces: tuple[str, ...] = ()  # none for all
    endpoints: bool = True
    pod_names: bool = False  # whether endpoints without a host name are called like their pods
    cluster_sets: tuple[str, ...] = ()  # zones of the services of many clusters


class ClusterNames:
    """The table of a cluster's names, which follows the API server while ``run`` runs."""

    def __init__(self, client: Client, options: NameOptions, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        self.options = options
        self.table = AnswerTable(options.zone, options.ttl, serial=int(clock.now()))
        self._namespaces = frozenset(options.namespaces)
        slim = slim_slice_with_pods if options.pod_names else slim_slice
        self.services = Informer(client, SERVICES, transform=slim_service, clock=clock)
        self.slices = Informer(client, ENDPOINT_SLICES, transform=slim, clock=clock)
        self.namespaces = Informer(
            client, NAMESPACES, metadata_only=True, transform=_slim_metadata, clock=clock
        )
        self.slices.add_index(_by_service)
        self.services.add_handler(self._service_changed)
        self.slices.add_handler(self._slice_changed)
        self.namespaces.add_handler(self._namespace_changed)
        self.informers = [self.services, self.namespaces] + [self.slices] * options.endpoints
        self.imported = ImportedNames(
            client, options.cluster_sets, self.table, self.slices, self._namespaces, clock
        )
        self.pods: Informer | None = None
        if options.pods == "verified":
            self.pods = Informer(client, PODS, transform=slim_pod, clock=clock)
            self.pods.add_index(_by_address)
            self.informers.append(self.pods)

    def namespace_of(self, address: str) -> str | None:
        """Return the namespace of the pod that has an address."""
        for pod in self.pods.find(_by_address, address) if self.pods is not None else ():
            return str(pod["metadata"]["namespace"])
        return None

    def is_pod(self, address: str, namespace: str) -> bool:
        """Return whether a pod of a namespace has an address."""
        pods = self.pods.find(_by_address, address) if self.pods is not None else ()
        return any(pod["metadata"]["namespace"] == namespace for pod in pods)

    # -- what changes ------------------------------------------------------------------------------------

    def _service_changed(self, old: Object | None, new: Object | None) -> None:
        self._update_service(key_of(new or old or {}))

    def _slice_changed(self, old: Object | None, new: Object | None) -> None:
        for key in {
            key
            for endpoint_slice in (old, new)
            if endpoint_slice is not None
            for key in _by_service(endpoint_slice)
        }:
            if _headless(self.services.get(key)):
                self._update_service(key)

    def _update_service(self, key: str) -> None:
        service = self.services.get(key)
        if service is not None and self._namespaces and key.partition("/")[0] not in self._namespaces:
            return
        slices: Iterable[Object] = self.slices.find(_by_service, key) if _headless(service) else ()
        service_records = records.of_service(service, slices, self.table.zone) if service is not None else {}
        self.table.set_service(key, service_records)

    def _namespace_changed(self, old: Object | None, new: Object | None) -> None:
        name = (new or old or {})["metadata"]["name"]
        if not self._namespaces or name in self._namespaces:
            for table in (self.table, *self.imported.tables):
                table.set_namespace(name, new is not None)

    # -- running -----------------------------------------------------------------------------------------

    @property
    def synced(self) -> bool:
        """Whether all names are known."""
        return all(informer.synced for informer in self.informers)

    async def run(self) -> None:
        """Follow the API server until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self.informers:
                group.create_task(informer.run())
            group.create_task(self.imported.run())

    async def wait_synced(self) -> None:
        """Wait until all names are known."""
        for informer in self.informers:
            await informer.wait_synced()


def _headless(service: Object | None) -> bool:
    return service is not None and service["spec"].get("clusterIPs") == ["None"]


def _by_service(obj: Object) -> list[str]:
    meta = obj["metadata"]
    name = (meta.get("labels") or {}).get(_SERVICE_NAME)
    return [f"{meta['namespace']}/{name}"] if name else []


def _slim_metadata(obj: Object) -> Object:
    meta = obj["metadata"]
    return {"metadata": {key: meta[key] for key in ("name", "namespace", "resourceVersion") if key in meta}}


def slim_service(service: Object) -> Object:
    """Return a Service with no more than its records need."""
    spec = service.get("spec") or {}
    addresses = spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else [])
    kept: Object = {"clusterIPs": addresses}
    if spec.get("type") == "ExternalName":
        kept |= {"type": "ExternalName", "externalName": spec.get("externalName")}
    ports = [
        {key: port[key] for key in ("name", "protocol", "port") if key in port}
        for port in spec.get("ports") or ()
        if port.get("name")
    ]
    if ports:
        kept["ports"] = ports
    return {**_slim_metadata(service), "spec": kept}


def slim_slice(obj: Object) -> Object:
    """Return an EndpointSlice with no more than records need."""
    result = _slim_metadata(obj)
    labels = obj["metadata"].get("labels") or {}
    kept = {key: labels[key] for key in (_SERVICE_NAME, IMPORT_NAME, SOURCE_CLUSTER) if labels.get(key)}
    if _SERVICE_NAME not in kept and IMPORT_NAME not in kept:
        return result
    result["metadata"]["labels"] = kept
    result["addressType"] = obj.get("addressType")
    result["ports"] = obj.get("ports") or []
    result["endpoints"] = [
        {key: endpoint[key] for key in ("addresses", "hostname", "conditions") if key in endpoint}
        for endpoint in obj.get("endpoints") or ()
    ]
    return result


def slim_slice_with_pods(obj: Object) -> Object:
    """Return an EndpointSlice whose endpoints without a host name are called like their pods."""
    endpoints = []
    for endpoint in obj.get("endpoints") or ():
        target = endpoint.get("targetRef") or {}
        if not endpoint.get("hostname") and target.get("kind") == "Pod" and target.get("name"):
            endpoint = {**endpoint, "hostname": target["name"]}
        endpoints.append(endpoint)
    return slim_slice({**obj, "endpoints": endpoints})


def slim_pod(pod: Object) -> Object:
    """Return a Pod with its addresses, if it runs."""
    status = pod.get("status") or {}
    over = status.get("phase") in ("Succeeded", "Failed") or pod["metadata"].get("deletionTimestamp")
    addresses = [entry["ip"] for entry in status.get("podIPs") or () if entry.get("ip")]
    return {**_slim_metadata(pod), "addresses": [] if over else addresses}


def _by_address(pod: Object) -> list[str]:
    return list(pod["addresses"])
