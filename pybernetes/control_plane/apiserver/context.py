"""What every verb works with: the store, the kinds and the parts that the server was put together from."""

from __future__ import annotations

import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakValueDictionary

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.admission.dynamic.webhook_metrics import WebhookMetrics
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz import authorization
from pybernetes.control_plane.apiserver.authz.rbac.role_index import RoleIndex
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.observability.metrics import Metrics
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kind, Kinds
from pybernetes.control_plane.apiserver.storage.list_cache import ListCache
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib.http.client import HttpClient
from pybernetes.lib.http.dialer import Dialer, direct


class Allocation(Protocol):
    """What a write took from a pool; ``undo`` gives it back when the write fails, ``commit`` ends it well."""

    async def undo(self) -> None: ...

    async def commit(self) -> None: ...


class Allocator(Protocol):
    """Pools that objects of one kind draw from: addresses and ports of services."""

    async def allocate(self, new: Object, old: Object | None, *, dry_run: bool) -> Allocation: ...

    async def release(self, obj: Object) -> None: ...

    async def note(self, obj: Object) -> None: ...

    async def close(self) -> None: ...


# Refuses, with a StatusError, a write by the user of a request: the new object, and the old one or None.
Check = Callable[[Request, Object, Object | None], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WriteCheck:
    """What a kind's writes must pass although the verb is allowed: checks before and after validation."""

    before: Check | None = None
    after: Check | None = None


@dataclass
class NodeAccess:
    """The identity that kubelets know this server by, which of their addresses it prefers, and how it gets there."""

    context: ssl.SSLContext | None = None
    address_types: tuple[str, ...] = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
    dialer: Dialer = direct  # to pods and services


@dataclass
class ServerContext:
    """The parts of an API server that its verbs share."""

    store: Store
    kinds: Kinds
    authentication: Authentication = field(default_factory=Authentication)
    admission: Chain = field(default_factory=Chain)
    metrics: Metrics = field(default_factory=Metrics)
    authorization: authorization.Authorization = field(default_factory=authorization.Authorization)
    clock: Callable[[], float] = time.time
    allocators: dict[tuple[str, str], Allocator] = field(default_factory=dict)
    guards: dict[tuple[str, str], WriteCheck] = field(default_factory=dict)
    nodes: NodeAccess = field(default_factory=NodeAccess)
    # The last batch of changes as watchers get it, by prefix and representation.
    batches: WeakValueDictionary[Any, Any] = field(default_factory=WeakValueDictionary)
    lists: ListCache = field(default_factory=ListCache)
    # Calls webhooks.
    https: HttpClient = field(init=False)
    hook_metrics: WebhookMetrics = field(default_factory=WebhookMetrics)

    def __post_init__(self) -> None:
        self.https = HttpClient(self.nodes.dialer)
        self.roles = RoleIndex(self.store)

    async def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Whether a user may do something: ``RequestInfo("get", is_resource=True, resource="pods", …)``."""
        verdict = self.authorization.authorize(user, info)
        return verdict if isinstance(verdict, Verdict) else await verdict

    async def guard(
        self, kind: Kind, request: Request, new: Object, old: Object | None, *, valid: bool = False
    ) -> None:
        """Lets the guard of a kind, if it has one, refuse a write, before or after the object was found valid."""
        guard = self.guards.get((kind.resource.group, kind.resource.plural))
        if guard is not None:
            check = guard.after if valid else guard.before
            if check is not None:
                await check(request, new, old)

    def allocator(self, kind: Kind) -> Allocator | None:
        """The pools of a kind, if it has any."""
        return self.allocators.get((kind.resource.group, kind.resource.plural))

    def timestamp(self) -> str:
        """Now, as objects carry it."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))

    async def fresh(self) -> None:
        """Makes sure that reads from memory see all that was written before now."""
        if not self.store.local:
            await self.store.sync()


Awaited = Awaitable[Any]
