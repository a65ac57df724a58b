"""What every verb works with: the store, the kinds and the parts that the server was put together from."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.forbidden import forbidden
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib.http.client import HttpClient
from pybernetes.lib.memory.held_memory import HeldMemory

if TYPE_CHECKING:  # the rooms import this module: it only names the types of what it carries
    from pybernetes.control_plane.apiserver.admission.chain import Chain
    from pybernetes.control_plane.apiserver.admission.dynamic.webhook_metrics import WebhookMetrics
    from pybernetes.control_plane.apiserver.authn.authentication import Authentication
    from pybernetes.control_plane.apiserver.authn.user import User
    from pybernetes.control_plane.apiserver.authz.authorization import Authorization
    from pybernetes.control_plane.apiserver.authz.rbac.role_index import RoleIndex
    from pybernetes.control_plane.apiserver.authz.verdict import Verdict
    from pybernetes.control_plane.apiserver.observability.metrics import Metrics
    from pybernetes.control_plane.apiserver.observability.write_times import WriteTimes
    from pybernetes.control_plane.apiserver.proxy.node_access import NodeAccess
    from pybernetes.control_plane.apiserver.storage.allocation import Allocator
    from pybernetes.control_plane.apiserver.storage.kind import Kind
    from pybernetes.control_plane.apiserver.storage.kinds import Kinds
    from pybernetes.control_plane.apiserver.storage.list_cache import ListCache
    from pybernetes.control_plane.apiserver.storage.write_check import WriteCheck
    from pybernetes.control_plane.apiserver.verbs.watch_frames import Batch


# The selectors of all open watches together take at most about this much.
SELECTOR_BYTES = 256 << 20


@lru_cache(maxsize=16)
def timestamp(second: int) -> str:
    """Return a second as objects carry it; the same ones are asked for over and over."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


@dataclass
class ServerContext:
    """The parts of an API server that its verbs share; ``assembly/server_context.py`` puts one together."""

    store: Store
    kinds: Kinds
    authentication: Authentication
    authorization: Authorization
    roles: RoleIndex
    admission: Chain
    nodes: NodeAccess
    lists: ListCache
    metrics: Metrics
    webhook_metrics: WebhookMetrics
    # Calls webhooks and other API servers.
    https: HttpClient
    clock: Callable[[], float] = time.time
    # How long a watch goes on at least, up to twice as long, if its client does not say.
    watch_seconds: int = 1800
    # What the selectors of open watches take.
    watch_selectors: HeldMemory = field(
        default_factory=lambda: HeldMemory(SELECTOR_BYTES, SELECTOR_BYTES // 4)
    )
    # By group and plural: the pools that the objects of a kind draw from, and what its writes have to pass.
    allocators: dict[tuple[str, str], Allocator] = field(default_factory=dict)
    write_checks: dict[tuple[str, str], WriteCheck] = field(default_factory=dict)
    # By group and plural: of the kinds whose writes are timed, when they happened.
    write_times: dict[tuple[str, str], WriteTimes] = field(default_factory=dict)
    # The last batch of changes as watchers get it, by prefix and representation.
    batches: WeakValueDictionary[tuple[str, tuple[str, ...]], Batch] = field(
        default_factory=WeakValueDictionary
    )

    async def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Decide whether a user may do something: ``RequestInfo("get", is_resource=True, resource="pods", …)``."""
        verdict = self.authorization.authorize(user, info)
        return await verdict if inspect.isawaitable(verdict) else verdict

    async def require(self, user: User, info: RequestInfo) -> None:
        """Refuse, with 403, what a user may not do."""
        verdict = await self.authorize(user, info)
        if not verdict.allowed:
            raise forbidden(user, info, verdict.reason)

    async def check_write(
        self, kind: Kind, request: Request, new: Object, old: Object | None, *, valid: bool = False
    ) -> None:
        """Let the check of a kind, if it has one, refuse a write, before or after the object was found valid."""
        write_check = self.write_checks.get((kind.resource.group, kind.resource.plural))
        if write_check is not None:
            check = write_check.after if valid else write_check.before
            if check is not None:
                await check(request, new, old)

    def allocator(self, kind: Kind) -> Allocator | None:
        """Return the pools of a kind, if it has any."""
        return self.allocators.get((kind.resource.group, kind.resource.plural))

    def times(self, kind: Kind) -> WriteTimes | None:
        """Return where the writes of a kind are noted, if they are."""
        return self.write_times.get((kind.resource.group, kind.resource.plural))

    def timestamp(self) -> str:
        """Return the time as objects carry it."""
        return timestamp(int(self.clock()))

    def fresh(self) -> Awaitable[None]:
        """Make sure that reads from memory see all that was written before now; that begins before it is waited for."""
        return self.store.sync()
