"""The parts of a local cluster as pods of kube-system, so that everybody sees what runs.

They are not containers: the control plane's parts live in one process, a node's in another. Like the mirrors of
static pods they only show what runs elsewhere, and kubelets leave them alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.client.errors import AlreadyExists, Conflict, NotFound
from pybernetes.client.refs import NODES, PODS, Kindlike
from pybernetes.runtime.controller import Controller, Mapper
from pybernetes.runtime.runtime import Runtime

NAMESPACE = "kube-system"
LABEL = "pybernetes.dev/component"
MIRROR = "kubernetes.io/config.mirror"
SOURCE = "kubernetes.io/config.source"


class Part(NamedTuple):
    """A part that runs: since when, with which flags, where it answers if that is not its node's address, its restarts."""

    started: str
    flags: tuple[str, ...] = ()
    address: str = ""
    restarts: int = 0


def pod_name(component: str, node: str) -> str:
    """Return the name of the pod that shows a component of a node."""
    return f"{component}-{node}"


def pod(component: str, node: Object, part: Part) -> Object:
    """Return a pod that shows a component."""
    name = node["metadata"]["name"]
    owner = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": name,
        "uid": node["metadata"]["uid"],
        "controller": True,
    }
    return {
        "metadata": {
            "name": pod_name(component, name),
            "namespace": NAMESPACE,
            "labels": {LABEL: component, "component": component, "k8s-app": component},
            "annotations": {MIRROR: component, SOURCE: "pybernetes"},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": name,
            "hostNetwork": True,
            "priorityClassName": "system-node-critical",
            "enableServiceLinks": False,
            "tolerations": [{"operator": "Exists"}],
            "containers": [
                {
                    "name": component,
                    "image": f"pybernetes.dev/pybernetes:{KUBERNETES_VERSION}",
                    "imagePullPolicy": "Never",
                    "command": [component, *part.flags],
                }
            ],
        },
    }


def status(component: str, node: Object, part: Part) -> Object:
    """Return the status of such a pod: it runs since its process does, and is ready if its node is."""
    conditions = {condition["type"]: condition for condition in node.get("status", {}).get("conditions", ())}
    ready = conditions.get("Ready", {}).get("status") == "True"
    addresses = [
        address["address"]
        for address in node.get("status", {}).get("addresses", ())
        if address["type"] == "InternalIP"
    ]
    own = [part.address] if part.address else addresses
    started = part.started
    return {
        "phase": "Running",
        "startTime": started,
        "hostIP": addresses[0] if addresses else "",
        "hostIPs": [{"ip": address} for address in addresses],
        "podIP": own[0] if own else "",
        "podIPs": [{"ip": address} for address in own],
        "qosClass": "BestEffort",
        "conditions": [
            {"type": kind, "status": "True" if ready or kind in ("PodScheduled", "Initialized") else "False",
             "lastTransitionTime": started}
            for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ],
        "containerStatuses": [
            {
                "name": component,
                "image": f"pybernetes.dev/pybernetes:{KUBERNETES_VERSION}",
                "imageID": "",
                "ready": ready,
                "started": True,
                "restartCount": part.restarts,
                "state": {"running": {"startedAt": started}},
            }
        ],
    }  # fmt: skip


class SystemPods(Controller):
    """Works on names of nodes. ``of_node`` says which components run on one."""

    name = "system-pods"
    kind = NODES
    selects = {PODS: {"namespace": NAMESPACE, "labels": LABEL}}
    workers = 1

    def __init__(self, runtime: Runtime, of_node: Callable[[str], Awaitable[Mapping[str, Part]]]) -> None:
        super().__init__(runtime)
        self._of_node = of_node

    def watches(self) -> Mapping[Kindlike, Mapper]:
        return {PODS: self._node_of}

    @staticmethod
    def _node_of(shown: Object) -> Iterable[str]:
        return (shown["spec"].get("nodeName", ""),)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Ignore the heartbeats of nodes that have no process."""
        return old is None or new is None or _relevant(old) != _relevant(new)

    async def reconcile(self, key: str) -> None:
        """Show the components of a node as they are, and no others."""
        node = self.objects.get(key)
        if node is None:  # the garbage collector takes them
            return
        components = await self._of_node(key)
        for component, part in components.items():
            await self._show(component, node, part)
        expected = {pod_name(component, key) for component in components}
        for shown in self._shown(key):
            if shown["metadata"]["name"] not in expected:
                await self._remove(shown)

    def _shown(self, node: str) -> Sequence[Object]:
        return [pod for pod in self.cache(PODS).values() if pod["spec"].get("nodeName") == node]

    async def _show(self, component: str, node: Object, part: Part) -> None:
        shown = self.cache(PODS).get(f"{NAMESPACE}/{pod_name(component, node['metadata']['name'])}")
        wanted = pod(component, node, part)
        if shown is not None and (
            shown["metadata"].get("deletionTimestamp") or _command(shown) != _command(wanted)
        ):
            await self._remove(shown)
            shown = None
        if shown is None:
            try:
                shown = await self.client.create(PODS, wanted, NAMESPACE)
            except AlreadyExists:
                return
        new_status = status(component, node, part)
        if _comparable(shown.get("status", {})) != _comparable(new_status):
            await self.client.update_status(PODS, {**shown, "status": new_status})

    async def _remove(self, shown: Object) -> None:
        try:
            meta = shown["metadata"]
            await self.client.delete(PODS, meta["name"], NAMESPACE, uid=meta["uid"], grace=0)
        except (Conflict, NotFound):
            pass


def _command(shown: Object) -> Any:
    return shown["spec"]["containers"][0].get("command")


def _relevant(node: Object) -> Any:
    from pybernetes.tools.local.hollow.nodes import HOLLOW  # nodes' own processes know nothing of these

    node_status = node.get("status", {})
    # A kubelet that was started again says so with its first heartbeat, and nothing else tells.
    meta = node["metadata"]
    real = not meta["name"].startswith("hollow-") and HOLLOW not in (meta.get("annotations") or {})
    ready = [
        (condition["status"], condition.get("lastHeartbeatTime") if real else None)
        for condition in node_status.get("conditions", ())
        if condition["type"] == "Ready"
    ]
    return ready, node_status.get("addresses")


def _comparable(pod_status: Object) -> Any:
    """Return the part of a status that is compared: transition times and the generation are not ours to write."""
    conditions = sorted(
        (condition["type"], condition["status"]) for condition in pod_status.get("conditions", ())
    )
    containers = [
        (container["name"], container["ready"], container["restartCount"], container["state"])
        for container in pod_status.get("containerStatuses", ())
    ]
    return pod_status.get("phase"), pod_status.get("podIP"), conditions, containers
