"""Follows APIService objects: asks the servers that they name, notes whether they answer, and finds them for requests."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable
from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.aggregation import availability, documents, proxy
from pybernetes.control_plane.apiserver.aggregation.availability import PASSED, Verdict
from pybernetes.control_plane.apiserver.aggregation.registration import GROUP, PLURAL, Registration
from pybernetes.control_plane.apiserver.authn.user import MASTERS, User
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.own_status import modify_status
from pybernetes.control_plane.apiserver.webhooks.service_resolver import Unresolved, resolve
from pybernetes.control_plane.store.prefix_follower import PrefixFollower
from pybernetes.control_plane.store.protocol import Event, Record, StoreError, Watch
from pybernetes.lib.http.client import Peer, RequestFailed
from pybernetes.lib.http.messages import Reply
from pybernetes.lib.http.server_connection import Answer

log = logging.getLogger(__name__)
_SELF = User("system:kube-aggregator", groups=(MASTERS,))
_SERVICE_NAME = "kubernetes.io/service-name"
_ASK_SECONDS = 5.0
# A server can go away without any object changing. This looks at those alone that are behind this one.
_CHECK_SECONDS = 30.0
_FIRST_RETRY_SECONDS = 0.25


class Remote:
    """A version of a group that another server serves."""

    def __init__(self, obj: Object, secure: ssl.SSLContext) -> None:
        self.object, self.tls = obj, secure
        self.spec: dict[str, Any] = obj["spec"]
        self.available = availability.is_available(obj)
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.watches: list[Watch] = []
        self.said: documents.Said | None = None

    def end(self) -> None:
        """Look at the server no longer."""
        for watch in self.watches:
            watch.close()
        if self.task is not None:
            self.task.cancel()


class Aggregator:
    """The servers behind this one."""

    def __init__(
        self, context: ServerContext, discovery: Discovery, openapi: OpenApi, identity: proxy.Identity
    ) -> None:
        self._context, self._discovery, self._openapi, self._identity = context, discovery, openapi, identity
        self._kind = context.kinds.find(GROUP, PLURAL)
        self._remotes: dict[tuple[str, str], Remote] = {}
        self._names: dict[str, tuple[str, str]] = {}
        self.registration = Registration(context, discovery)

    async def start(self) -> None:
        """Follow the objects from now on, and write those of this server."""
        PrefixFollower(self._context.store, self._kind.prefix, self._change).start()
        await self.registration.start()

    async def close(self) -> None:
        """Stop asking."""
        await self.registration.close()
        for remote in self._remotes.values():
            remote.end()

    def __call__(self, request: Request) -> Awaitable[Answer] | None:
        """Hand a request on if another server serves its group; None if it is this server's."""
        if not self._remotes:
            return None
        info = request.request_info
        key = (info.group, info.version)
        if not info.is_resource:
            parts = request.path.split("/")
            if len(parts) < 4 or parts[1] != "apis":
                return None
            key = (parts[2], parts[3])
        remote = self._remotes.get(key)
        if remote is None:
            return None
        if not remote.available:
            raise errors.unavailable("service unavailable")
        return proxy.forward_request(self._context, request, remote.spec, remote.tls)

    # -- objects -----------------------------------------------------------------------------------------

    def _change(self, key: str, record: Record | None) -> None:
        name = key.rpartition("/")[2]
        obj = self._kind.object(record) if record is not None else None
        spec = (obj or {}).get("spec", {})
        version = self._names.get(name)
        held = self._remotes.get(version) if version is not None else None
        if held is not None and obj is not None and spec == held.spec:
            held.object, held.available = obj, availability.is_available(obj)
            return
        if held is not None and version is not None:
            held.end()
            del self._remotes[version], self._names[name]
            self._discovery.set_foreign(*version, None)
            self._openapi.set_foreign(*version, None, None)
        if obj is None:
            self.registration.again()
        elif "service" in spec:
            self._hold(name, obj)

    def _hold(self, name: str, obj: Object) -> None:
        try:
            secure = proxy.client_tls(obj["spec"], self._identity)
        except ValueError as error:
            log.warning("APIService %s: %s", name, error)
            return
        version = (obj["spec"]["group"], obj["spec"]["version"])
        remote = Remote(obj, secure)
        self._names[name], self._remotes[version] = version, remote
        self._show(version, remote)
        self._watch(remote)
        remote.task = asyncio.get_running_loop().create_task(self._follow(name, version, remote))

    def _show(self, version: tuple[str, str], remote: Remote) -> None:
        said = remote.said
        rows = said.resources if said is not None else []
        stale = not remote.available or said is None
        self._discovery.set_foreign(*version, rows, remote.spec["groupPriorityMinimum"], stale=stale)
        if said is not None:
            self._openapi.set_foreign(*version, said.v3, said.v2)

    def _watch(self, remote: Remote) -> None:
        """Look at the server again when its service or the endpoints of it change."""
        service, store = remote.spec["service"], self._context.store
        services = self._context.kinds.find("", "services")
        slices = self._context.kinds.find("discovery.k8s.io", "endpointslices")
        places = (
            services.key(service["namespace"], service["name"]),
            slices.collection(service["namespace"]),
        )

        def seen(events: list[Event]) -> None:
            remote.changed.set()

        def closed(error: StoreError | None) -> None:
            remote.changed.set()

        for place in places:
            remote.watches.append(store.watch(place, store.revision, seen, closed=closed))

    # -- servers -----------------------------------------------------------------------------------------

    async def _follow(self, name: str, version: tuple[str, str], remote: Remote) -> None:
        delay = _FIRST_RETRY_SECONDS
        while True:
            remote.changed.clear()
            verdict = await self._ask(version, remote)
            try:
                await self._write(name, verdict)
            except StoreError as error:
                log.warning("cannot write the status of APIService %s: %s", name, error)
            available = verdict is PASSED
            remote.available = available
            self._show(version, remote)
            delay = _CHECK_SECONDS if available else min(delay * 2, _CHECK_SECONDS)
            try:
                async with asyncio.timeout(delay):
                    await remote.changed.wait()
                delay = _FIRST_RETRY_SECONDS
            except TimeoutError:
                pass

    async def _ask(self, version: tuple[str, str], remote: Remote) -> Verdict:
        """Return whether the server answers; keep what it says about itself."""
        wanted = remote.spec["service"]
        namespace, name = wanted["namespace"], wanted["name"]
        services = self._context.kinds.find("", "services")
        slices = self._context.kinds.find("discovery.k8s.io", "endpointslices")
        record = self._context.store.get(services.key(namespace, name))
        pieces = [
            slices.shared(piece)
            for piece in self._context.store.list(slices.collection(namespace)).records
            if slices.labels(piece).get(_SERVICE_NAME) == name
        ]
        service = services.shared(record) if record is not None else None
        missing = availability.check(remote.object, service, pieces)
        if missing is not None:
            return missing
        try:
            remote.said = await documents.read(lambda *asked: self._get(remote, *asked), *version)
        except (RequestFailed, Unresolved, documents.Unusable) as error:
            where = (
                f"https://{proxy.server_name(remote.spec)}:{wanted['port']}/apis/{version[0]}/{version[1]}"
            )
            text = f"failing or missing response from {where}: {error}"
            return Verdict("False", "FailedDiscoveryCheck", text)
        return PASSED

    async def _get(self, remote: Remote, path: str, accepted: str) -> Reply:
        service = remote.spec["service"]
        host, port = resolve(self._context, service["namespace"], service["name"], service["port"])
        peer = Peer(host, port, remote.tls, proxy.server_name(remote.spec))
        headers = {**proxy.flat(proxy.identity_headers(_SELF)), "Accept": accepted}
        return await self._context.https.send(peer, "GET", path, b"", headers, _ASK_SECONDS)

    async def _write(self, name: str, verdict: Verdict) -> None:
        def change(api_service: Object) -> Object | None:
            return availability.with_verdict(api_service, verdict, self._context.timestamp())

        await modify_status(self._context, self._kind, self._kind.key("", name), change)
