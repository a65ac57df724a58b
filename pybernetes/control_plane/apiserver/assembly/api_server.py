"""An API server put together from its parts, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pybernetes.api import feature_gates, protobuf
from pybernetes.api.cel import engine
from pybernetes.api.coordination import lease_candidate
from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.aggregation.aggregator import Aggregator
from pybernetes.control_plane.apiserver.assembly import bootstrap
from pybernetes.control_plane.apiserver.assembly.identity_lease import IdentityLease
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.assembly.server_leases import ServerLeases
from pybernetes.control_plane.apiserver.assembly.settings import Settings
from pybernetes.control_plane.apiserver.authn import client_ca_publisher
from pybernetes.control_plane.apiserver.authn.service_accounts.openid_documents import documents
from pybernetes.control_plane.apiserver.authz import write_checks
from pybernetes.control_plane.apiserver.connection import Connection
from pybernetes.control_plane.apiserver.context import SELECTOR_BYTES
from pybernetes.control_plane.apiserver.custom_resources.custom_resources import CustomResources
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.flowcontrol.configuration import FlowControlConfiguration
from pybernetes.control_plane.apiserver.flowcontrol.dispatcher import Dispatcher
from pybernetes.control_plane.apiserver.leader_election.controller import LeaderElectionController
from pybernetes.control_plane.apiserver.observability import start_checks, tracing
from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi
from pybernetes.control_plane.apiserver.pipeline import failures
from pybernetes.control_plane.apiserver.pipeline.own_paths import OwnPaths
from pybernetes.control_plane.apiserver.pipeline.pipeline import pipeline
from pybernetes.control_plane.apiserver.pipeline.router import Router
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import encoded
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.list_cache import ListCache
from pybernetes.control_plane.apiserver.storage.retrying_sync import RetryingSync
from pybernetes.control_plane.store.protocol import Store, StoreError
from pybernetes.lib.discover import discover
from pybernetes.lib.event_loop.loop_watchdog import LoopWatchdog
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import NOT_CACHED
from pybernetes.lib.http.server import Server
from pybernetes.lib.memory import forgetting
from pybernetes.lib.memory.held_memory import HeldMemory
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.profiling.profiling import Profiling

log = logging.getLogger(__name__)
_RELOAD = "poststarthook/start-encryption-provider-config-automatic-reload"
# So many damaged objects are named by the check that tells of them.
_NAMED = 20


class ApiServer:
    """kube-apiserver: the store, the kinds, the chain and the listener."""

    def __init__(self, store: Store, settings: Settings) -> None:
        if settings.tracer is not None:
            store = tracing.traced_store(settings.tracer, store)
        self.store, self.settings = store, settings
        self.kinds = Kinds(settings.resources)
        for kind in self.kinds:
            kind.stores_messages = settings.storage_media_type == protobuf.MEDIA_TYPE and bool(kind.message)
        self.context = new_context(
            store, self.kinds, nodes=settings.nodes, lists=ListCache.within(settings.memory_room)
        )
        self.context.watch_selectors = HeldMemory.within(settings.memory_room, SELECTOR_BYTES)
        if settings.tracer is not None:
            self.context.https = tracing.TracedHttpClient(settings.tracer, settings.nodes.dialer)
            for times in self.context.write_times.values():
                times.spans = settings.tracer
        encoded.within(settings.memory_room)
        self.context.admission = Chain([plugin(self.context) for plugin in settings.admission])
        self.context.authentication = settings.authentication(self.context)
        self.context.authorization.replace(settings.authorizers(self.context))
        followed = [follow(self.context) for follow in settings.config_files]
        self._config_files = [file for file in followed if file is not None]
        for checks in discover(write_checks.__name__, "write_checks").values():
            self.context.write_checks |= checks(self.context)
        self.health = Health()
        own = {"store-space": (self._check_space, False), "stored-objects": (self._check_objects, True)}
        start_checks.register(self.health, store.health, self._certificate, own, settings.health_seconds)
        if settings.encryption.has_health:
            self.health.add("kms-providers", settings.encryption.problem, ("healthz", "readyz"))
        if settings.encryption.reload:
            self.health.add_steps([_RELOAD])
        self.metrics = self.context.metrics
        self.metrics.count_objects = self._count_objects
        self.metrics.count_events = self._count_events
        self.discovery = Discovery(settings.resources, f"{settings.advertise_address}:{settings.port}")
        self.openapi = OpenApi(settings.resources)
        self.custom_resources = CustomResources(self.context, self.discovery, self.openapi)
        self.aggregator = Aggregator(self.context, self.discovery, self.openapi, settings.proxy)
        own_paths = OwnPaths(
            self.context,
            self.discovery,
            self.openapi,
            self.health,
            settings.flags,
            Profiling() if settings.profiling else None,
        )
        router = Router(self.context, own_paths, self.aggregator)
        self.flows = FlowControlConfiguration(self.context, settings.seats)
        dispatcher = Dispatcher(self.flows)
        self.metrics.more += [
            self.context.admission.durations.render,
            settings.egress.render,
            engine.render,
            dispatcher.render,
            self._render_damage,
            self._render_features,
        ]
        self.metrics.native_histograms = settings.feature_gates.get(feature_gates.NATIVE_HISTOGRAMS, True)
        self.metrics.more.append(settings.encryption.metrics.render)
        self.metrics.more.append(self.context.authorization.render)
        self.metrics.more += [file.reloads.render for file in self._config_files]
        if self.context.authentication.jwt is not None:
            self.metrics.more.append(self.context.authentication.jwt.render)
        if settings.auditor is not None:
            self.metrics.more.append(settings.auditor.render)
        handler = pipeline(
            self.context,
            router,
            settings.auditor,
            dispatcher if settings.seats else None,
            settings.request_seconds,
            settings.tracer,
        )
        limits = Limits().within(settings.memory_room)
        headers = NOT_CACHED
        if settings.transport_security:
            headers += f"Strict-Transport-Security: {settings.transport_security}\r\n".encode()
        self.context.watch_seconds = settings.watch_seconds
        self.http = Server(
            handler, failures.refusal, limits, Request, connection_class=Connection, headers=headers
        )
        self._watchdog = LoopWatchdog(settings.watchdog_seconds) if settings.watchdog_seconds else None
        if self._watchdog is not None:
            self.metrics.more.append(self._watchdog.render)
        self.port = 0
        self._compaction: asyncio.Task[None] | None = None
        self._upkeep: RetryingSync | None = None
        self._leases = ServerLeases(store, settings.advertise_address)
        self._identity: IdentityLease | None = None
        self._elections: LeaderElectionController | None = None
        self._publisher = client_ca_publisher.ClientCAPublisher(self.context, settings.trust)

    async def start(self) -> None:
        """Load the store, make what must exist, and listen."""
        await self.settings.encryption.start(self.store.unseal_again)
        await self.store.start()
        if self.settings.auditor is not None:
            await self.settings.auditor.start()
        self.context.authentication.start()
        self.context.roles.start()
        self.context.authorization.start()
        for file in self._config_files:
            file.start()
        done = self.health.done
        done("storage-readiness", "storage-object-count-tracker-hook", "generic-apiserver-start-informers")
        done("start-apiserver-admission-initializer", _RELOAD)
        self.custom_resources.start()
        done("start-apiextensions-informers", "start-apiextensions-controllers", "crd-informer-synced")
        await bootstrap.prepare(self.context, self.settings, self.health)
        await self._publisher.start()
        done("start-cluster-authentication-info-controller")
        serving = self.settings.serving
        assert serving is not None
        serving.listeners.append(self._publisher.changed)
        self.port = await self.http.start(self.settings.host, self.settings.port, serving.context)
        accounts = self.context.authentication.accounts
        if accounts is not None:
            host = self.settings.external_hostname or self.settings.advertise_address
            self.context.authentication.documents = documents(accounts, f"{host}:{self.port}")
        announced = await bootstrap.announce(
            self.context, self.settings, self.port, self.health, self._leases
        )
        self._leases.start(self._ensure_addresses)
        done("peer-endpoint-reconciler-controller")
        self._identity = IdentityLease(self.context, f"{self.settings.advertise_address}:{self.port}")
        await self._identity.start()
        done("start-kube-apiserver-identity-lease-controller")
        done("start-kube-apiserver-identity-lease-garbage-collector")
        if self.settings.feature_gates.get(feature_gates.COORDINATED):
            self._elections = self._start_elections()
        await self.flows.start()
        done(
            "priority-and-fairness-config-producer",
            "priority-and-fairness-config-consumer",
            "priority-and-fairness-filter",
        )
        await self.aggregator.start()
        done(
            "start-kube-aggregator-informers", "kube-apiserver-autoregistration", "autoregister-completion",
            "apiservice-registration-controller", "apiservice-discovery-controller", "apiservice-openapi-controller",
            "apiservice-openapiv3-controller", "apiservice-status-local-available-controller",
            "apiservice-status-remote-available-controller",
        )  # fmt: skip
        self._upkeep = bootstrap.upkeep(self.context, self.settings, self.port, self._leases)
        self._upkeep.start()
        if not announced:
            self._upkeep.ask()
        done("start-system-namespaces-controller")
        if self.settings.compaction_seconds:
            self._compaction = asyncio.create_task(self._compact())
        if self._watchdog is not None:
            self._watchdog.start()
        log.info("serving securely on %s:%d", self.settings.host, self.port)

    def _start_elections(self) -> LeaderElectionController | None:
        kind = lease_candidate.RESOURCE
        if self.kinds.get(kind.group, kind.version, kind.plural) is None:
            log.warning(
                "%s is on, and nobody can be a candidate: --runtime-config=%s=true serves them",
                feature_gates.COORDINATED,
                kind.api_version,
            )
            return None
        elections = LeaderElectionController(self.context)
        elections.start()
        return elections

    def _count_objects(self) -> Iterator[tuple[Resource, int]]:
        for kind in self.kinds:
            if not kind.converts and "list" in kind.resource.verbs:
                yield kind.resource, self.store.count(kind.prefix)

    def _count_events(self) -> Iterator[tuple[Resource, int]]:
        received, kinds = (
            self.store.received(),
            {kind.prefix: kind for kind in self.kinds if not kind.converts},
        )
        totals = dict.fromkeys(kinds, 0)
        for directory, count in received.items():
            prefix = directory if directory in totals else directory[: directory.rfind("/", 0, -1) + 1]
            if prefix in totals:
                totals[prefix] += count
        for prefix, count in totals.items():
            if count:
                yield kinds[prefix].resource, count

    def _damaged(self) -> dict[str, str]:
        """Return what is wrong with stored objects that cannot be read, by key."""
        damaged = dict(self.store.damaged())
        for kind in self.kinds:
            for key, (record, problem) in list(kind.unreadable.items()):
                if self.store.get(key) is record:
                    damaged[key] = problem
                else:
                    del kind.unreadable[key]
        return damaged

    def _check_objects(self) -> str | None:
        damaged = self._damaged()
        names = "; ".join(f"{key}: {problem}" for key, problem in sorted(damaged.items())[:_NAMED])
        return f"{len(damaged)} stored objects cannot be read: {names}" if damaged else None

    def _render_features(self, out: Exposition) -> None:
        feature_gates.render(self.settings.feature_gates, out)

    def _render_damage(self, out: Exposition) -> None:
        name = "pybernetes_storage_damaged_objects"
        out.family(name, "gauge", "Stored objects that cannot be read.")
        out.sample(name, (), len(self._damaged()))

    async def _ensure_addresses(self) -> None:
        await bootstrap.ensure_addresses(self.context, self.settings, self.port, self._leases)

    def _certificate(self) -> Path | None:
        return self.settings.serving.certificate if self.settings.serving is not None else None

    async def _check_space(self) -> str | None:
        try:
            await self.store.space()
        except StoreError as error:
            return str(error)
        return None

    async def _compact(self) -> None:
        """Let history go after a while, as upstream does, and all that is remembered only to be faster."""
        seen = self.store.revision
        while True:
            await asyncio.sleep(self.settings.compaction_seconds)
            now = self.store.revision
            with suppress(StoreError):
                await self.store.compact(seen)
            seen = now
            await forgetting.forget()

    async def stop(self) -> None:
        """Fail readiness first, let requests finish, then close the store."""
        self.health.shut_down()
        if self._watchdog is not None:
            self._watchdog.stop()
        if self._upkeep is not None:
            await self._upkeep.close()
        if self._identity is not None:
            await self._identity.close()
        if self._elections is not None:
            await self._elections.close()
        await self._leases.leave(self._ensure_addresses)
        await asyncio.sleep(self.settings.delay_seconds)
        await self.http.drain(self.settings.drain_seconds)
        if self.settings.auditor is not None:
            await self.settings.auditor.close()
        if self._compaction is not None:
            self._compaction.cancel()
        await self._publisher.close()
        await self.aggregator.close()
        await self.flows.close()
        await self.custom_resources.close()
        self.context.https.close()
        for allocator in self.context.allocators.values():
            await allocator.close()
        for file in self._config_files:
            await file.close()
        await self.store.close()
        if self.settings.tracer is not None:
            await asyncio.to_thread(self.settings.tracer.close)
        await self.settings.encryption.close()
