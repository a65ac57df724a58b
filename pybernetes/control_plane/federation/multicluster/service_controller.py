"""Carries services over: what is exported in some clusters is imported in all that have its namespace."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import ENDPOINT_SLICES, SERVICES, Kindlike
from pybernetes.control_plane.federation.members.members import Members
from pybernetes.control_plane.federation.multicluster import exports, imports
from pybernetes.control_plane.federation.multicluster.exports import Export, Shared
from pybernetes.control_plane.federation.multicluster.kinds import (
    SERVICE_EXPORTS,
    SERVICE_IMPORTS,
    SOURCE_CLUSTER,
)
from pybernetes.control_plane.federation.multicluster.member_services import MemberServices
from pybernetes.lib import rfc3339
from pybernetes.runtime.background import BackgroundTasks
from pybernetes.runtime.cache import split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
_CLOSE_SECONDS = 5.0
_CALL_SECONDS = 10.0  # for all of one service in one member
_SERVER_ERRORS = 500
# A member that could not be written to is tried again after this time, beside what the queue does for errors.
_AGAIN_SECONDS = 10.0


class MultiClusterServiceController(Controller):
    """The loop over services that some cluster exports or has been given, by their keys."""

    name = "multiclusterservice"
    workers = 8

    def __init__(self, runtime: Runtime, members: Members) -> None:
        super().__init__(runtime)
        self._members = members
        self._services: dict[str, MemberServices] = {}
        self._clients: dict[str, Client] = {}
        self._background = BackgroundTasks("multicluster")
        members.listen(self._member_changed)

    async def prepare(self) -> None:
        """Follow the members that there are already."""
        for member in self._members:
            self._member_changed(member.name)

    async def close(self) -> None:
        """Follow nobody any more."""
        for name in list(self._services):
            await self._services.pop(name).close()
        await self._background.close(_CLOSE_SECONDS)

    # -- changes become keys -----------------------------------------------------------------------------

    def _member_changed(self, name: str) -> None:
        member = self._members.get(name)
        client = member.client if member is not None else None
        if self._clients.get(name) is not client:
            self._drop(name)
            if member is not None and client is not None:
                self._clients[name] = client
                self._services[name] = MemberServices(client, member.informers(), self._changed)
        for services in self._services.values():
            for key in services.service_keys():
                self.enqueue(key)

    def _drop(self, name: str) -> None:
        self._clients.pop(name, None)
        services = self._services.pop(name, None)
        if services is not None:
            for key in services.service_keys():
                self.enqueue(key)
            self._background.start(services.close())

    def _changed(self, key: str) -> None:
        namespace, name = split_key(key)
        if name:
            self.enqueue(key)
            return
        for services in self._services.values():  # a namespace came or went
            for other in services.service_keys():
                if split_key(other)[0] == namespace:
                    self.enqueue(other)

    # -- one service -------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> float | None:
        """Give all clusters what some of them export."""
        exported = [
            Export(cluster, export, services.service(key))
            for cluster, services in self._services.items()
            if services.is_known and (export := services.export(key)) is not None
        ]
        unknown = {cluster for cluster, services in self._services.items() if not services.is_known}
        service = exports.shared(exported)
        now = rfc3339.seconds(self.clock.now())
        work = [
            self._guarded(key, export.cluster, partial(self._report, export, service, now))
            for export in exported
        ]
        work += [
            self._guarded(key, cluster, partial(self._give, services, key, service, unknown))
            for cluster, services in self._services.items()
            if services.takes_part and services.is_known
        ]
        done = await asyncio.gather(*work)
        return None if all(done) and not unknown else _AGAIN_SECONDS

    async def _guarded(self, key: str, cluster: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Write to a member, unless it is left alone for a while because of errors; return whether that went well."""
        member = self._members.get(cluster)
        if member is None or member.back_off.seconds:
            return False
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                await work()
        except (StatusError, OSError, TimeoutError) as error:
            log.warning("service %s in %s: %s", key, cluster, error)
            if not isinstance(error, StatusError) or error.code >= _SERVER_ERRORS:
                member.back_off.failed()
            return False
        except (KeyError, TypeError, ValueError, AttributeError) as error:  # whatever a member answers
            log.warning("service %s in %s: %r", key, cluster, error)
            member.back_off.failed()
            return False
        return True

    async def _report(self, export: Export, service: Shared | None, now: str) -> None:
        """Tell an export how it does."""
        conditions = exports.conditions(export, service, now)
        if conditions == (export.export.get("status") or {}).get("conditions"):
            return
        meta = export.export["metadata"]
        await self._services[export.cluster].client.patch(
            SERVICE_EXPORTS, meta["name"], {"status": {"conditions": conditions}}, meta["namespace"],
            subresource="status",
        )  # fmt: skip

    async def _give(
        self, services: MemberServices, key: str, service: Shared | None, unknown: set[str]
    ) -> None:
        """Make one cluster have what it should of a service."""
        namespace, name = split_key(key)
        imported, derived, given = services.given(key)
        client = services.client
        if service is None or not services.has_namespace(namespace):
            if unknown and services.has_namespace(namespace):
                return  # somebody who cannot be asked may export it
            await self._delete(client, SERVICE_IMPORTS, imported)
            await self._delete(client, SERVICES, derived)
            for endpoint_slice in given:
                await self._delete(client, ENDPOINT_SLICES, endpoint_slice)
            return
        if service.is_headless:
            await self._delete(client, SERVICES, derived)
            derived = None
        else:
            wanted = imports.derived_service(namespace, name, service)
            derived = await self._put(client, SERVICES, derived, wanted)
        wanted = imports.service_import(namespace, name, service, derived)
        imported = await self._put(client, SERVICE_IMPORTS, imported, wanted)
        await self._name_clusters(client, imported, service, unknown)
        await self._give_slices(client, key, service, given, unknown)

    async def _give_slices(
        self, client: Client, key: str, service: Shared, given: list[Object], unknown: set[str]
    ) -> None:
        namespace, name = split_key(key)
        sources = {
            cluster: self._services[cluster].sources(key)
            for cluster in service.clusters
            if cluster in self._services and self._is_ready(cluster)
        }
        wanted = imports.slices(namespace, name, service, sources)
        existing = {obj["metadata"]["name"]: obj for obj in given}
        refused: StatusError | None = None
        for own, endpoint_slice in wanted.items():
            try:
                await self._put(client, ENDPOINT_SLICES, existing.get(own), endpoint_slice)
            except StatusError as error:  # of one cluster; those of others are none the worse for it
                refused = error
        for own, obj in existing.items():
            if own not in wanted and obj["metadata"]["labels"].get(SOURCE_CLUSTER) not in unknown:
                await self._delete(client, ENDPOINT_SLICES, obj)
        if refused is not None:
            raise refused

    def _is_ready(self, cluster: str) -> bool:
        member = self._members.get(cluster)
        return member is not None and member.ready

    async def _name_clusters(
        self, client: Client, imported: Object, service: Shared, unknown: set[str]
    ) -> None:
        before = [row["cluster"] for row in (imported.get("status") or {}).get("clusters") or ()]
        clusters = sorted({*service.clusters, *(name for name in before if name in unknown)})
        if clusters != before:
            meta = imported["metadata"]
            status = {"clusters": [{"cluster": name} for name in clusters]}
            await client.patch(
                SERVICE_IMPORTS, meta["name"], {"status": status}, meta["namespace"], subresource="status"
            )

    # -- writing -----------------------------------------------------------------------------------------

    async def _put(self, client: Client, kind: Kindlike, existing: Object | None, wanted: Object) -> Object:
        """Create an object or give it what it lacks; return it as it is then."""
        meta = wanted["metadata"]
        if existing is None:
            return await client.create(kind, wanted, meta["namespace"])
        if imports.is_as(existing, wanted):
            return existing
        return await client.patch(kind, meta["name"], imports.patch(existing, wanted), meta["namespace"])

    async def _delete(self, client: Client, kind: Kindlike, existing: Object | None) -> None:
        if existing is None:
            return
        meta = existing["metadata"]
        try:
            await client.delete(kind, meta["name"], meta["namespace"], uid=meta["uid"])
        except NotFound:
            pass
