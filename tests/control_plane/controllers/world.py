"""A whole small cluster inside a test: API server, controllers, hollow nodes, and somebody who binds pods to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NODES,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Ref,
)
from pybernetes.control_plane.controllers._controller_manager import registry
from pybernetes.lib import flags
from pybernetes.runtime import Controller, Manager, Runtime
from pybernetes.tools.local.hollow import hollow_kubelet
from tests.cluster import Cluster
from tests.control_plane.controllers.builders import template

WORKLOADS = (
    "cronjob", "daemonset", "deployment", "job", "replicaset", "replicationcontroller", "statefulset",
    "ttl-after-finished",
)  # fmt: skip


class Binder(Controller):
    """Binds pods to nodes in turn; a daemon's pod to the node that it is for."""

    name = "binder"
    kind = PODS

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._turn = 0
        self.cache(NODES)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return (
            new is not None and not new["spec"].get("nodeName") and "deletionTimestamp" not in new["metadata"]
        )

    async def reconcile(self, key: str) -> float | None:
        pod = self.objects.get(key)
        if pod is None or not self.concerns(None, pod):
            return None
        nodes = sorted(self.cache(NODES).keys())
        self._turn += 1
        target = {"kind": "Node", "name": _asked_for(pod) or nodes[self._turn % len(nodes)]}
        meta = pod["metadata"]
        binding = {
            "kind": "Binding",
            "apiVersion": "v1",
            "metadata": {"name": meta["name"]},
            "target": target,
        }
        try:
            await self.client.create(
                PODS, binding, meta["namespace"], name=meta["name"], subresource="binding"
            )
        except StatusError:
            pass  # it was bound or has gone
        return None


def _asked_for(pod: Object) -> str:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get(
        "nodeSelectorTerms"
    ) or ()
    return next((term["matchFields"][0]["values"][0] for term in terms if term.get("matchFields")), "")


class World:
    """``async with World() as world``: controllers can be stopped and started again while everything else goes on."""

    def __init__(self, controllers: Sequence[str] = WORKLOADS, nodes: int = 2, wrap: Callable[[Any], Any] | None = None) -> None:  # fmt: skip
        self._names, self._wrap = controllers, wrap
        self._nodes = [f"n{number}" for number in range(nodes)]
        self.cluster = Cluster()
        self.manager: Manager = None  # type: ignore[assignment]
        self.view: Runtime = None  # type: ignore[assignment]
        self._tasks: list[asyncio.Task[Any]] = []
        self._work: asyncio.Task[None] | None = None

    async def __aenter__(self) -> World:
        await self.cluster.start()
        self.client = self.cluster.client
        self.view = Runtime(self.client)  # what tests look at
        for kind in (PODS, REPLICA_SETS, DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, JOBS):
            self.view.informers.get(kind)
        binder = Binder(self.view)
        self.view.informers.start()
        ready = asyncio.Event()
        hollow = hollow_kubelet.run(self.client, self._nodes, version="v1.37.0", ready=ready)
        self._tasks = [asyncio.create_task(hollow), asyncio.create_task(binder.run())]
        await ready.wait()
        for name in self._nodes:  # as the controller of nodes does when they are ready
            await self.client.patch(NODES, name, {"spec": {"taints": None}})
        await self.start()
        return self

    async def start(self) -> None:
        """Start the controllers."""
        client = self.client if self._wrap is None else Client(self._wrap(self.client.transport))
        self.manager = Manager(client)
        known = registry.descriptors()
        options = flags.defaults(registry.flags(known))
        registry.add_all(self.manager, registry.select(self._names, known), options)
        self._work = asyncio.create_task(self.manager.run())

    async def kill(self) -> None:
        """End the controllers wherever they are."""
        assert self._work is not None
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    async def __aexit__(self, *exc: object) -> None:
        await self.kill()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.view.informers.stop()
        await self.cluster.__aexit__()

    def all(self, kind: Ref) -> list[Object]:
        """Return every object of a kind."""
        return self.view.informers.get(kind).values()

    def get(self, kind: Ref, name: str) -> Object:
        """Return an object of the namespace default; empty if there is none."""
        return self.view.informers.get(kind).get(f"default/{name}") or {}

    def pods(self, prefix: str = "", *, active: bool = True) -> list[Object]:
        """Return the pods whose name begins so."""
        return [
            pod
            for pod in self.all(PODS)
            if pod["metadata"]["name"].startswith(prefix)
            and not (active and "deletionTimestamp" in pod["metadata"])
        ]


def workload(name: str, image: str = "nginx:1", **spec: Any) -> Object:
    """Return a workload with pods that are labeled like it."""
    pod_template = template(image)
    pod_template["metadata"]["labels"] = {"app": name}
    pod_spec = spec.pop("pod", {})
    pod_template["spec"] |= pod_spec
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": pod_template, **spec},
    }


def job(name: str, command: Sequence[str] = ("true",), **spec: Any) -> Object:
    """Return a job that runs a command."""
    container = {"name": "main", "image": "busybox", "command": list(command)}
    pod = {"restartPolicy": spec.pop("restartPolicy", "Never"), "containers": [container]}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"template": {"spec": pod}, **spec}}
