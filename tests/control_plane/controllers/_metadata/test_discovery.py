"""The kinds of a server, from either form of its documents."""

from __future__ import annotations

from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import DEPLOYMENTS, EVENTS, HORIZONTAL_POD_AUTOSCALERS, PODS
from pybernetes.control_plane.controllers._metadata.discovery import Discovered, discover, read_aggregated
from tests.cluster import Cluster


class Legacy:
    """A transport that never asks for aggregated documents."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def send(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Any = None
    ) -> Any:
        return await self._transport.send(method, path, query, body, {b"accept": b"application/json"})


async def test_both_forms_say_the_same() -> None:
    async with Cluster() as cluster:
        aggregated = await discover(cluster.client)
        legacy = await discover(Client(Legacy(cluster.client.transport)))  # type: ignore[arg-type]
        over_the_network = await discover(cluster.rest_client())
        assert aggregated == legacy == over_the_network
        assert aggregated.preferred["", "pods"].ref == PODS
        assert aggregated.preferred["", "pods"].can("delete", "deletecollection", "watch")
        assert not aggregated.preferred["authorization.k8s.io", "subjectaccessreviews"].can("list")
        # Every version of a kind leads to the preferred one.
        preferred = aggregated.find("autoscaling/v1", "HorizontalPodAutoscaler")
        assert preferred is not None
        assert preferred.ref == HORIZONTAL_POD_AUTOSCALERS
        assert aggregated.find("extensions/v1beta1", "Deployment") is None
        assert aggregated.find("apps/v1", "Deployment") == aggregated.preferred["apps", "deployments"]
        assert aggregated.preferred["apps", "deployments"].ref == DEPLOYMENTS
        assert aggregated.preferred["", "events"].ref == EVENTS
        assert aggregated.failures == {}


def test_stale_groups_are_failures() -> None:
    discovered = Discovered()
    version = {"version": "v1", "freshness": "Stale", "resources": []}
    read_aggregated({"items": [{"metadata": {"name": "metrics.k8s.io"}, "versions": [version]}]}, discovered)
    assert discovered.failures == {"metrics.k8s.io/v1": "stale GroupVersion discovery"}
