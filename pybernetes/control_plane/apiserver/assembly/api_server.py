"""An API server put together from its parts, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pybernetes.api.registry import builtin
from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.admission.plugin import Plugin
from pybernetes.control_plane.apiserver.aggregation.aggregator import Aggregator
from pybernetes.control_plane.apiserver.aggregation.proxy import Identity
from pybernetes.control_plane.apiserver.assembly import bootstrap
from pybernetes.control_plane.apiserver.assembly.server_leases import ServerLeases
from pybernetes.control_plane.apiserver.audit.auditor import Auditor
from pybernetes.control_plane.apiserver.authn import client_ca_publisher
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authn.service_accounts.openid_documents import documents
from pybernetes.control_plane.apiserver.authz import authorization, write_checks
from pybernetes.control_plane.apiserver.authz.authorizer import Authorizer
from pybernetes.control_plane.apiserver.context import NodeAccess, ServerContext
from pybernetes.control_plane.apiserver.custom_resources import CustomResources
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.flowcontrol.configuration import FlowControlConfiguration
from pybernetes.control_plane.apiserver.flowcontrol.dispatcher import Dispatcher
from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.openapi import OpenApi
from pybernetes.control_plane.apiserver.pipeline import authorization as gate
from pybernetes.control_plane.apiserver.pipeline import pipeline
from pybernetes.control_plane.apiserver.pipeline.impersonation import impersonation
from pybernetes.control_plane.apiserver.pipeline.router import Router
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.retrying_sync import RetryingSync
from pybernetes.control_plane.store.protocol import Store, StoreError
from pybernetes.lib.discover import discover
from pybernetes.lib.http.server_connection import Application, Server
from pybernetes.lib.serving_certificates import ServingCertificates

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """What a server is told from outside."""

    host: str = "0.0.0.0"
    port: int = 6443
    advertise_address: str = ""
    # The name or address that others know it by, if it is not the one above.
    external_hostname: str = ""
    serving: ServingCertificates | None = None
    # What the command line said, for /flagz.
    flags: Mapping[str, str] = field(default_factory=dict)
    authentication: Callable[[ServerContext], Authentication] = lambda context: Authentication()
    trust: client_ca_publisher.ClientAuthorities = field(
        default_factory=client_ca_publisher.ClientAuthorities
    )
    authorizers: Sequence[Callable[[ServerContext], Authorizer]] = ()
    admission: Sequence[Callable[[ServerContext], Plugin]] = ()
    nodes: NodeAccess = field(default_factory=NodeAccess)
    # Who this server is to the servers behind it.
    proxy: Identity = field(default_factory=Identity)
    services: ServiceOptions = field(default_factory=ServiceOptions)
    # How long the server goes on as before once it says that it is not ready, and then waits for what is under way.
    delay_seconds: float = 0.0
    # How many requests may be at work at once, shared out among priority levels; 0 leaves them alone.
    seats: int = 600
    # Who notes what is asked of the server; None notes nothing.
    auditor: Auditor | None = None
    drain_seconds: float = 60.0
    # How often what is older than this is let go from the store's history; 0 keeps it.
    compaction_seconds: float = 300.0


class ApiServer:
    """kube-apiserver: the store, the kinds, the chain and the listener."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.kinds = Kinds(builtin())
        self.context = ServerContext(store, self.kinds, nodes=settings.nodes)
        self.context.admission = Chain([plugin(self.context) for plugin in settings.admission])
        self.context.authentication = settings.authentication(self.context)
        self.context.authorization = authorization.Authorization(
            [build(self.context) for build in settings.authorizers]
        )
        for checks in discover(write_checks.__name__, "write_checks").values():
            self.context.guards |= checks(self.context)
        self.health = Health()
        self.metrics = self.context.metrics
        self.metrics.count_objects = self._count_objects
        self.discovery = Discovery(builtin(), f"{settings.advertise_address}:{settings.port}")
        self.openapi = OpenApi(builtin())
        self.custom_resources = CustomResources(self.context, self.discovery, self.openapi)
        self.aggregator = Aggregator(self.context, self.discovery, self.openapi, settings.proxy)
        endpoint = Router(
            self.context,
            self.discovery,
            self.openapi,
            self.health,
            self.metrics,
            self.aggregator,
            settings.flags,
        )
        self.flows = FlowControlConfiguration(self.context, settings.seats)
        turns = Dispatcher(self.flows)
        self.metrics.more.append(turns.render)
        auditor = settings.auditor
        steps = (
            self.context.authentication.step,
            *((auditor.step,) if auditor is not None else ()),
            impersonation(self.context.authorize),
            *((turns.step,) if settings.seats else ()),
            gate.authorization(self.context.authorization),
        )
        application: Application = pipeline.Pipeline(steps, endpoint, self.metrics)
        if auditor is not None:
            application = auditor.wrap(application)
            self.metrics.more.append(auditor.render)
        self.http = Server(application, pipeline.refusal, request_class=Request)
        self.port = 0
        self._compaction: asyncio.Task[None] | None = None
        self._upkeep: RetryingSync | None = None
        self._masters = ServerLeases(store, settings.advertise_address)
        self._publisher = client_ca_publisher.ClientCAPublisher(self.context, settings.trust)

    async def start(self) -> None:
        """Loads the store, makes what must exist, and listens."""
        await self.store.start()
        if self.settings.auditor is not None:
            await self.settings.auditor.start()
        self.context.authentication.start()
        self.context.roles.start()
        self.context.authorization.start()
        self.health.add("etcd", self._check_store)
        self.health.add("etcd-readiness", self._check_store, ("readyz",))
        hook = self.health.add_hook("start-apiextensions-controllers")
        self.custom_resources.start()
        hook.done()
        await bootstrap.prepare(self.context, self.settings, self.health)
        hook = self.health.add_hook("start-cluster-authentication-info-controller")
        await self._publisher.start()
        hook.done()
        serving = self.settings.serving
        assert serving is not None
        serving.listeners.append(self._publisher.changed)
        self.port = await self.http.start(self.settings.host, self.settings.port, serving.context)
        accounts = self.context.authentication.accounts
        if accounts is not None:
            host = self.settings.external_hostname or self.settings.advertise_address
            self.context.authentication.documents = documents(accounts, f"{host}:{self.port}")
        await bootstrap.announce(self.context, self.settings, self.port, self.health, self._masters)
        self._masters.start(self._ensure_addresses)
        hook = self.health.add_hook("priority-and-fairness-config-producer")
        await self.flows.start()
        hook.done()
        hook = self.health.add_hook("apiservice-registration-controller")
        await self.aggregator.start()
        hook.done()
        hook = self.health.add_hook("start-system-namespaces-controller")
        self._upkeep = bootstrap.upkeep(self.context, self.settings, self.port, self._masters)
        self._upkeep.start()
        hook.done()
        if self.settings.compaction_seconds:
            self._compaction = asyncio.create_task(self._compact())
        log.info("serving securely on %s:%d", self.settings.host, self.port)

    def _count_objects(self) -> Iterator[tuple[Resource, int]]:
        for kind in self.kinds:
            if not kind.converts and "list" in kind.resource.verbs:
                yield kind.resource, self.store.count(kind.prefix)

    async def _ensure_addresses(self) -> None:
        await bootstrap.ensure_addresses(self.context, self.settings, self.port, self._masters)

    async def _check_store(self) -> str | None:
        try:
            await self.store.health()
        except Exception as error:
            return str(error)
        return None

    async def _compact(self) -> None:
        """Lets history go after a while, as upstream does."""
        seen = self.store.revision
        while True:
            await asyncio.sleep(self.settings.compaction_seconds)
            now = self.store.revision
            with suppress(StoreError):
                await self.store.compact(seen)
            seen = now

    async def stop(self) -> None:
        """Fails readiness first, lets requests finish, then closes the store."""
        self.health.shut_down()
        if self._upkeep is not None:
            await self._upkeep.close()
        await self._masters.leave(self._ensure_addresses)
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
        await self.store.close()
