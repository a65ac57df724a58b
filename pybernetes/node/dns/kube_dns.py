"""kube-dns as a whole: follows Services, EndpointSlices, Namespaces and its ConfigMap, and answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import CONFIG_MAPS, ENDPOINT_SLICES, NAMESPACES, SERVICES
from pybernetes.lib.clock import Clock
from pybernetes.lib.exposition import CONTENT_TYPE, Exposition
from pybernetes.lib.http.messages import Request, Response
from pybernetes.node.dns import config, records
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.forwarder import Forwarder
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.resolver import Resolver
from pybernetes.node.dns.server import Server
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.component_server import ComponentServer, text
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
_SERVICE_NAME = "kubernetes.io/service-name"


@dataclass(slots=True)
class Options:
    """How kube-dns is to run."""

    addresses: tuple[str, ...] = ("127.0.0.1",)
    port: int = 53
    zone: str = "cluster.local"
    ttl: int = 30
    ranges: tuple[str, ...] = ()  # of services and pods: their reverse names are nobody else's business
    http_ports: tuple[int, ...] = ()  # each serves /health, /ready and /metrics
    nameservers: tuple[config.Server, ...] = field(default_factory=config.of_machine)
    stubs: Mapping[bytes, tuple[config.Server, ...]] = field(default_factory=dict)
    follow_config_map: bool = True  # whether the ConfigMap kube-dns says more about other servers


class KubeDns:
    """The name server of a cluster."""

    def __init__(self, client: Client, options: Options, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        self.options, self.metrics = options, Metrics()
        self.table = AnswerTable(options.zone, options.ttl, serial=int(clock.now()))
        self.forwarder = Forwarder(
            config.Configuration(options.nameservers, options.stubs), self.metrics, clock
        )
        resolver = Resolver(self.table, self.forwarder.ask, self.metrics, options.ranges)
        self.server = Server(resolver)
        self.services = Informer(client, SERVICES, transform=slim_service, clock=clock)
        self.slices = Informer(client, ENDPOINT_SLICES, transform=slim_slice, clock=clock)
        self.namespaces = Informer(
            client, NAMESPACES, metadata_only=True, transform=_slim_metadata, clock=clock
        )
        self.config_map = Informer(
            client, CONFIG_MAPS, config.NAMESPACE, fields=f"metadata.name={config.NAME}", clock=clock
        )
        self.slices.add_index(_by_service)
        self.services.add_handler(self._service_changed)
        self.slices.add_handler(self._slice_changed)
        self.namespaces.add_handler(self._namespace_changed)
        self.config_map.add_handler(self._configured)
        self._pages: list[ComponentServer] = []

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
        slices: Iterable[Object] = self.slices.find(_by_service, key) if _headless(service) else ()
        service_records = records.of_service(service, slices, self.table.zone) if service is not None else {}
        self.table.set_service(key, service_records)

    def _namespace_changed(self, old: Object | None, new: Object | None) -> None:
        self.table.set_namespace((new or old or {})["metadata"]["name"], new is not None)

    def _configured(self, old: Object | None, new: Object | None) -> None:
        try:
            data = (new or {}).get("data") or {}
            self.forwarder.configure(config.parse(data, self.options.nameservers))
        except ValueError as error:
            log.error("the ConfigMap %s/%s: %s; what was before stays", config.NAMESPACE, config.NAME, error)

    # -- running -----------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether all names are known."""
        return self.services.synced and self.slices.synced and self.namespaces.synced

    async def start(self) -> None:
        """Open the sockets; questions are answered once ``run`` knows the names."""
        port = self.options.port
        for address in self.options.addresses:
            port = await self.server.start(address, port)
        pages = {"/health": self._health, "/ready": self._ready, "/metrics": self._metrics}
        for number in self.options.http_ports:
            for address in self.options.addresses:
                self._pages.append(ComponentServer(dict(pages)))
                await self._pages[-1].start(address, number)

    async def run(self) -> None:
        """Follow the API server until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in (self.services, self.slices, self.namespaces):
                group.create_task(informer.run())
            if self.options.follow_config_map:
                group.create_task(self.config_map.run())

    async def stop(self) -> None:
        """Close all sockets."""
        await self.server.stop()
        for page in self._pages:
            await page.stop()

    def _health(self, request: Request) -> Response:
        return text(b"OK")

    def _ready(self, request: Request) -> Response:
        return text(b"OK") if self.ready else text(b"kubernetes", 503)

    def _metrics(self, request: Request) -> Response:
        exposition = Exposition()
        self.metrics.names = len(self.table.names)
        self.metrics.write(exposition)
        exposition.process()
        return Response(exposition.render(), content_type=CONTENT_TYPE)


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
    name = (obj["metadata"].get("labels") or {}).get(_SERVICE_NAME)
    if not name:
        return result
    result["metadata"]["labels"] = {_SERVICE_NAME: name}
    result["addressType"] = obj.get("addressType")
    result["ports"] = obj.get("ports") or []
    result["endpoints"] = [
        {key: endpoint[key] for key in ("addresses", "hostname", "conditions") if key in endpoint}
        for endpoint in obj.get("endpoints") or ()
    ]
    return result
