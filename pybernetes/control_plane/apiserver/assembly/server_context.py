"""Puts the parts together that the rooms of the server share."""

from __future__ import annotations

import time
from collections.abc import Callable

from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.admission.dynamic.webhook_metrics import WebhookMetrics
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authz.authorization import Authorization
from pybernetes.control_plane.apiserver.authz.rbac.role_index import RoleIndex
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.observability.metrics import Metrics
from pybernetes.control_plane.apiserver.observability.write_times import WriteTimes
from pybernetes.control_plane.apiserver.proxy.node_access import NodeAccess
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.list_cache import ListCache
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib.http.client import HttpClient


def new_context(
    store: Store,
    kinds: Kinds,
    *,
    nodes: NodeAccess | None = None,
    authorization: Authorization | None = None,
    clock: Callable[[], float] = time.time,
    lists: ListCache | None = None,
) -> ServerContext:
    """Return a context that authenticates and authorizes nobody yet and has no admission plugins."""
    nodes = nodes or NodeAccess()
    return ServerContext(
        store=store,
        kinds=kinds,
        authentication=Authentication(),
        authorization=authorization or Authorization(),
        roles=RoleIndex(store),
        admission=Chain(),
        nodes=nodes,
        lists=lists or ListCache(),
        metrics=Metrics(),
        webhook_metrics=WebhookMetrics(),
        https=HttpClient(nodes.dialer),
        clock=clock,
        write_times={("", "pods"): WriteTimes(clock)},
    )
