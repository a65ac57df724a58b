"""kube-proxy of one node: follows the API server and has a mode write what changed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pybernetes.api import feature_gates
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import ENDPOINT_SLICES, NODES, SERVICES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.flags import duration
from pybernetes.lib.kernel.rule_monitor import RuleMonitor
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.node.proxy import config, conntrack
from pybernetes.node.proxy.backend import Backend, Settings, SyncError, modes
from pybernetes.node.proxy.change_tracker import Change, ChangeTracker
from pybernetes.node.proxy.health import Health
from pybernetes.node.proxy.health_check_ports import HealthCheckPorts
from pybernetes.node.proxy.local_traffic import detect_local_traffic
from pybernetes.node.proxy.metrics import ProxyMetrics
from pybernetes.node.proxy.node import Node, node_of
from pybernetes.node.proxy.node_port_addresses import health_check_ips, own_addresses
from pybernetes.node.proxy.service_port import STALE_PROTOCOLS, ServicePort
from pybernetes.runtime.component_server import (
    ComponentServer,
    configz_of,
    metrics_page,
    slis_page,
    text,
    zpages_of,
)
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
# Leaves out Services and slices of other proxies, and those of headless Services.
_SELECTOR = "!service.kubernetes.io/service-proxy-name,!service.kubernetes.io/headless"
_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
_LONGEST_RETRY = 30.0
_MANY_SERVICES = 200  # whose rules are more than the kernel can report at once


class ProxyServer:
    """Joins the parts of kube-proxy. One loop writes all rules, so that no two writes overlap."""

    def __init__(
        self,
        client: Client,
        configuration: Object,
        node_name: str,
        *,
        clock: Clock | None = None,
        service_ranges: Sequence[str] = (),
        flags: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._flags = flags
        self.client, self.configuration, self.node_name = client, configuration, node_name
        self.clock = clock or Clock()
        self.mode_name = config.mode_of(configuration)
        self._mode = modes()[self.mode_name]
        section = configuration[self._mode.section]
        # The mode ipvs has no such fields of its own.
        masquerading = section if "masqueradeBit" in section else configuration["iptables"]
        self._min_sync_period = float(duration(str(section["minSyncPeriod"])))
        self.health = Health(self.clock, 2 * float(duration(str(section["syncPeriod"]))))
        self.tracker = ChangeTracker(Node(node_name))
        gates = feature_gates.decide(configuration.get("featureGates") or {})
        self.metrics = ProxyMetrics(self._mode, gates)
        self.settings = Settings(
            Node(node_name),
            masquerade_all=masquerading["masqueradeAll"],
            masquerade_bit=masquerading["masqueradeBit"],
            node_port_addresses=tuple(configuration["nodePortAddresses"]),
            localhost_node_ports=configuration["iptables"]["localhostNodePorts"],
            tcp_be_liberal=configuration["conntrack"]["tcpBeLiberal"],
            service_ranges=tuple(service_ranges),
            options=section,
        )
        self.backends: dict[int, Backend] = {}
        self.health_check_ports = HealthCheckPorts(self.health, self._health_addresses)
        self.synced = asyncio.Event()  # set once rules have been written for the first time
        self._wake = asyncio.Event()
        self._full: set[int] = {4}  # families whose rules in the kernel are unknown
        self._rule_monitor = RuleMonitor("kube-proxy", (b"KUBE-", b"kube-proxy\0"), self._on_removal)
        self._servers: list[ComponentServer] = []
        self._trigger_times: list[float] = []
        # What was taken from the tracker and is not in the kernel yet, because writing failed.
        self._services: set[str] = set()
        self._changes: list[Change] = []

    # -- what is watched ------------------------------------------------------------------------------------

    def _on_service(self, old: Object | None, new: Object | None) -> None:
        if self.tracker.on_service(old, new):
            self._queue()

    def _on_slice(self, old: Object | None, new: Object | None) -> None:
        if self.tracker.on_slice(old, new):
            if new is not None:
                moment = (new["metadata"].get("annotations") or {}).get(_TRIGGER_TIME)
                if moment and self.synced.is_set():
                    with contextlib.suppress(ValueError):
                        self._trigger_times.append(rfc3339.parse(moment))
            self._queue()

    def _on_node(self, old: Object | None, new: Object | None) -> None:
        self.health.node = new
        if new is None:
            return
        node = node_of(self.node_name, new)
        if self.tracker.on_node(node):
            self._queue()
        before = (self.settings.node.addresses, self.settings.local)
        self.settings.node = node
        self.settings.local = detect_local_traffic(self.configuration, node)
        if before != (node.addresses, self.settings.local):
            self._full.update((4, *self.backends))
            self._queue()

    def _on_removal(self) -> None:
        self._full.update(self.backends)
        self._queue()

    def _queue(self) -> None:
        self.health.queued()
        now = self.clock.now()
        for metrics in self.metrics.families.values():
            metrics.last_queued = now
        self._wake.set()

    # -- what is written ------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow the API server and keep the rules right until cancelled."""
        lack = self._mode.missing()
        if lack:
            raise config.ConfigurationError(f"mode: Invalid value: {self.mode_name!r}: {lack}")
        conntrack.set_limits(self.configuration["conntrack"])
        self.settings.local = detect_local_traffic(self.configuration, self.settings.node)
        informers = [
            Informer(
                self.client, SERVICES, labels=_SELECTOR, transform=_without_managed_fields, clock=self.clock
            ),
            Informer(
                self.client,
                ENDPOINT_SLICES,
                labels=_SELECTOR,
                transform=_without_managed_fields,
                clock=self.clock,
            ),
            Informer(
                self.client,
                NODES,
                fields=f"metadata.name={self.node_name}",
                transform=_without_managed_fields,
                clock=self.clock,
            ),
        ]
        for informer, handler in zip(
            informers, (self._on_service, self._on_slice, self._on_node), strict=True
        ):
            informer.add_handler(handler)
        tasks = [
            asyncio.create_task(informer.run(), name=f"informer {informer.ref}") for informer in informers
        ]
        try:
            await cleanup(keep=self._mode.rules)
            self._rule_monitor.start()
            await self._serve()
            for informer in informers:
                await informer.wait_synced()
            self._queue()
            await self._loop()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._rule_monitor.stop()
            for server in self._servers:
                await server.stop()
            await self.health_check_ports.stop()
            for backend in self.backends.values():
                await backend.close()

    async def _loop(self) -> None:
        failures = 0
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self.sync()
            except SyncError as error:
                failures += 1
                log.error("rules were not written: %s", error)
                self._wake.set()
                await self.clock.sleep(
                    min(_LONGEST_RETRY, max(self._min_sync_period, 0.5) * 2 ** (failures - 1))
                )
                continue
            failures = 0
            self.synced.set()
            # Changes that arrive meanwhile are written together.
            await self.clock.sleep(self._min_sync_period)

    async def sync(self) -> None:
        """Write the rules that changed; after a SyncError the next sync writes everything."""
        services, changes = self.tracker.take()
        self._services |= services
        self._changes += changes
        by_family: dict[int, list[Change]] = {family: [] for family in self._full}
        for change in changes:
            by_family.setdefault(change.family, []).append(change)
        for family, family_changes in by_family.items():
            if family not in self.backends:
                self.backends[family] = self._mode(self.settings, family)
                self._full.add(family)
            await self._write(family, family_changes)
        services, self._services = self._services, set()
        changes, self._changes = self._changes, []
        await self.health_check_ports.sync(services, self.tracker.states)
        self.health.updated()
        await self._forget_connections(changes)
        self._update_metrics()

    async def _write(self, family: int, changes: list[Change]) -> None:
        metrics, began = self.metrics.of(family), self.clock.monotonic()
        full = family in self._full
        self._full.discard(family)  # before writing, since others may remove rules meanwhile
        backend = self.backends[family]
        try:
            with self._rule_monitor.own_change(large=full and len(self.tracker.states) > _MANY_SERVICES):
                if full:
                    await backend.resync(self._service_ports(family))
                else:
                    await backend.sync(changes)
        except SyncError:
            self._full.add(family)
            metrics.failures += 1
            metrics.partial_failures += not full
            raise
        seconds = self.clock.monotonic() - began
        metrics.seconds.observe(seconds)
        (metrics.full_seconds if full else metrics.partial_seconds).observe(seconds)
        metrics.last = self.clock.now()
        log.debug(
            "%d changes of IPv%d written in %.3f s (%s)",
            len(changes),
            family,
            seconds,
            "all" if full else "part",
        )

    def _service_ports(self, family: int) -> list[ServicePort]:
        return [port for port in self.tracker.service_ports() if port.family == family]

    async def _forget_connections(self, changes: list[Change]) -> None:
        """Delete the kernel's connections of UDP and SCTP to targets that are gone."""
        families = {
            new.family
            for old, new in changes
            if new is not None
            and new.protocol in STALE_PROTOCOLS
            and (old is None or old.serving != new.serving)
        }
        for family in families:
            metrics, began = self.metrics.of(family), self.clock.monotonic()
            service_ports = self._service_ports(family)
            metrics.conntrack_deleted += await conntrack.forget_stale(service_ports, family)
            metrics.conntrack_seconds.observe(self.clock.monotonic() - began)

    def _update_metrics(self) -> None:
        now = self.clock.now()
        trigger_times, self._trigger_times = self._trigger_times, []
        for trigger_time in trigger_times:
            self.metrics.of(4).programming.observe(max(0.0, now - trigger_time))
        for family, metrics in self.metrics.families.items():
            counts = {"internal": 0, "external": 0}
            for port in self.tracker.service_ports():
                if port.family == family and port.exists and (port.internal_local or port.external_local):
                    counts["internal"] += not port.internal_targets
                    counts["external"] += port.external and not port.external_targets
            metrics.without_local = counts

    # -- what is served -----------------------------------------------------------------------------------

    async def _health_addresses(self) -> list[str]:
        selectors = self.settings.node_port_addresses or ("all",)
        return health_check_ips(selectors, self.settings.node, await own_addresses())

    async def _serve(self) -> None:
        def write(out: Exposition) -> None:
            self.metrics.write(out, self.tracker, self.health, self.backends)

        healthz = ComponentServer({"/healthz": self.health.page, "/livez": self.health.page})
        metrics = ComponentServer(
            {
                "/metrics": metrics_page(write, lambda: self.metrics.gates[feature_gates.NATIVE_HISTOGRAMS]),
                "/metrics/slis": slis_page(self.health.slis),
                "/proxyMode": lambda request: text(self.mode_name.encode()),
                "/healthz": lambda request: text(b"ok"),
                **configz_of(
                    {
                        config.GROUP: {
                            "kind": config.KIND,
                            "apiVersion": config.API_VERSION,
                            **self.configuration,
                        }
                    }
                ),
                **zpages_of("kube-proxy", self._flags, ("/configz", "/metrics", "/proxyMode", "/healthz")),
            }
        )
        for server, field in ((healthz, "healthzBindAddress"), (metrics, "metricsBindAddress")):
            host, port = config.address_of(self.configuration[field])
            if not port:
                continue
            try:
                await server.start(host, port)
                self._servers.append(server)
            except OSError as error:
                if self.configuration["bindAddressHardFail"]:
                    raise
                log.error("%s: %s", field, error)


def _without_managed_fields(obj: Object) -> Object:
    meta = obj["metadata"]
    if "managedFields" in meta:
        obj = {**obj, "metadata": {key: value for key, value in meta.items() if key != "managedFields"}}
    return obj


async def run(
    client: Client,
    configuration: Object,
    node_name: str,
    *,
    service_ranges: Sequence[str] = (),
    flags: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Run kube-proxy for a node in this network namespace until cancelled."""
    await ProxyServer(client, configuration, node_name, service_ranges=service_ranges, flags=flags).run()


async def cleanup(keep: str = "") -> None:
    """Remove what any mode may have left in this network namespace, except the rules to keep."""
    for mode in modes().values():
        if mode.rules != keep:
            await mode.cleanup()
