"""The objects that policies need: pods and namespaces are followed only while there is a policy."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NETWORK_POLICIES, PODS, Ref
from pybernetes.lib.clock import Clock
from pybernetes.node.network.policy import objects, rules
from pybernetes.node.network.policy.rules import Policy
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
CLUSTER_NETWORK_POLICIES = Ref(
    "policy.networking.k8s.io", "v1alpha2", "clusternetworkpolicies", "ClusterNetworkPolicy", False
)
DEFINITION = f"{CLUSTER_NETWORK_POLICIES.plural}.{CLUSTER_NETWORK_POLICIES.group}"


class Sources:
    """Informers of what there is; ``on_change`` is told of kind, key and what is known, None if it is gone."""

    def __init__(
        self, client: Client, on_change: Callable[[str, str, object], None], clock: Clock | None = None
    ) -> None:
        self._client, self._on_change, self._clock = client, on_change, clock
        self.network = Informer(client, NETWORK_POLICIES, transform=_slim(rules.network_policy), clock=clock)
        self.definitions = Informer(
            client, CUSTOM_RESOURCE_DEFINITIONS, fields=f"metadata.name={DEFINITION}", transform=_served, clock=clock
        )  # fmt: skip
        self.cluster: Informer | None = None  # while the definition is there
        self.pods: Informer | None = None  # while there is a policy
        self.namespaces: Informer | None = None
        self._tasks: dict[Informer, asyncio.Task[None]] = {}
        self.changed = asyncio.Event()
        self.network.add_handler(self._policy)
        self.definitions.add_handler(lambda old, new: self.changed.set())

    def start(self) -> None:
        """Follow the policies."""
        for informer in (self.network, self.definitions):
            self._run(informer)

    async def close(self) -> None:
        """Stop."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def known(self) -> bool:
        """Whether all policies of one moment are known."""
        cluster = self.cluster
        return self.network.synced and self.definitions.synced and (cluster is None or cluster.synced)

    @property
    def complete(self) -> bool:
        """Whether pods and namespaces are known as well."""
        pods, namespaces = self.pods, self.namespaces
        return pods is not None and namespaces is not None and pods.synced and namespaces.synced

    def policies(self) -> dict[str, Policy]:
        """Return all policies."""
        informers = [self.network, *([self.cluster] if self.cluster is not None else [])]
        return {
            obj["policy"].key: obj["policy"]
            for informer in informers
            for obj in informer.values()
            if obj["policy"] is not None
        }

    async def adapt(self) -> None:
        """Follow what is needed by what is known now, and nothing else."""
        served = any(obj["served"] for obj in self.definitions.values())
        if served and self.cluster is None:
            transform = _slim(rules.cluster_network_policy)
            self.cluster = self._new(CLUSTER_NETWORK_POLICIES, transform)
            self.cluster.add_handler(self._policy)
        elif not served and self.cluster is not None:
            await self._stop(self.cluster)
            self.cluster = None
        if not self.known:
            return
        if self.policies():
            if self.pods is None or self.namespaces is None:
                self.pods, self.namespaces = (
                    self._new(PODS, objects.slim_pod),
                    self._new(NAMESPACES, objects.slim_namespace),
                )
                self.pods.add_handler(self._pod)
                self.namespaces.add_handler(self._namespace)
        elif self.pods is not None and self.namespaces is not None:
            await self._stop(self.pods)
            await self._stop(self.namespaces)
            self.pods = self.namespaces = None

    def _new(self, ref: Ref, transform: Callable[[Object], Object]) -> Informer:
        informer = Informer(self._client, ref, transform=transform, clock=self._clock)
        self._run(informer)
        return informer

    def _run(self, informer: Informer) -> None:
        async def synced() -> None:
            await informer.wait_synced()
            self.changed.set()

        async def follow() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(informer.run())
                group.create_task(synced())

        self._tasks[informer] = asyncio.create_task(follow(), name=f"policies: {informer.ref}")

    async def _stop(self, informer: Informer) -> None:
        task = self._tasks.pop(informer)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    # -- changes -----------------------------------------------------------------------------------------

    def _policy(self, old: Object | None, new: Object | None) -> None:
        for obj in (old, new):
            if obj is not None and obj["policy"] is not None:
                self._on_change("policy", obj["policy"].key, obj["policy"] if obj is new else None)
        self.changed.set()

    def _pod(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            self._on_change("pod", old["pod"].key, None)
        elif new is not None and (old is None or old["pod"] != new["pod"]):
            self._on_change("pod", new["pod"].key, new["pod"])

    def _namespace(self, old: Object | None, new: Object | None) -> None:
        obj = new or old or {}
        labels = new["metadata"]["labels"] if new is not None else None
        self._on_change("namespace", obj["metadata"]["name"], labels)


def _slim(read: Callable[[Object], Policy]) -> Callable[[Object], Object]:
    def transform(obj: Object) -> Object:
        meta = {key: obj["metadata"].get(key) for key in ("namespace", "name", "resourceVersion")}
        try:
            policy = read(obj)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            log.error("the policy %s cannot be understood and is not enforced: %r", meta["name"], error)
            return {"metadata": meta, "policy": None}
        return {"metadata": meta, "policy": policy}

    return transform


def _served(definition: Object) -> Object:
    """Return a definition for the cache: whether the kind is served."""
    meta = {key: definition["metadata"].get(key) for key in ("name", "resourceVersion")}
    conditions = (definition.get("status") or {}).get("conditions") or ()
    established = any(
        condition.get("type") == "Established" and condition.get("status") == "True"
        for condition in conditions
    )
    versions = [
        version.get("name")
        for version in (definition.get("spec") or {}).get("versions") or ()
        if version.get("served")
    ]
    return {"metadata": meta, "served": established and CLUSTER_NETWORK_POLICIES.version in versions}
