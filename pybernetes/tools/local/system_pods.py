"""The parts of a local cluster as pods of kube-system, so that everybody sees what runs.

They are not containers: the control plane's parts live in one process, a node's in another. Like the mirrors of
static pods they only show what runs elsewhere, and kubelets leave them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pybernetes import KUBERNETES_VERSION
from pybernetes.client.errors import AlreadyExists, Conflict, NotFound
from pybernetes.client.refs import NODES, PODS, Kindlike
from pybernetes.client.transport import Object
from pybernetes.runtime.controller import Controller, Mapper, Runtime

NAMESPACE = "kube-system"
LABEL = "pybernetes.dev/component"
MIRROR = "kubernetes.io/config.mirror"
SOURCE = "kubernetes.io/config.source"


def names(component: str, node: str) -> str:
    """Return the name of the pod that shows a component of a node."""
    return f"{component}-{node}"


def pod(component: str, node: Object) -> Object:
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
            "name": names(component, name),
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
                    "command": ["pyb", component],
                }
            ],
        },
    }


def status(component: str, node: Object, started: str) -> Object:
    """Return what such a pod says: it runs since its process does, and is ready if its node is."""
    conditions = {each["type"]: each for each in node.get("status", {}).get("conditions", ())}
    ready = conditions.get("Ready", {}).get("status") == "True"
    addresses = [
        each["address"]
        for each in node.get("status", {}).get("addresses", ())
        if each["type"] == "InternalIP"
    ]
    return {
        "phase": "Running",
        "startTime": started,
        "hostIP": addresses[0] if addresses else "",
        "hostIPs": [{"ip": address} for address in addresses],
        "podIP": addresses[0] if addresses else "",
        "podIPs": [{"ip": address} for address in addresses],
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
                "restartCount": 0,
                "state": {"running": {"startedAt": started}},
            }
        ],
    }  # fmt: skip


class SystemPods(Controller):
    """Works on names of nodes. ``of_node`` says which components run on one, and since when."""

    name = "system-pods"
    kind = NODES
    selects = {PODS: {"namespace": NAMESPACE, "labels": LABEL}}
    workers = 1

    def __init__(self, runtime: Runtime, of_node: Callable[[str], Mapping[str, str]]) -> None:
        super().__init__(runtime)
        self._of_node = of_node

    def watches(self) -> Mapping[Kindlike, Mapper]:
        return {PODS: self._node_of}

    @staticmethod
    def _node_of(shown: Object) -> Iterable[str]:
        return (shown["spec"].get("nodeName", ""),)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Return a node's heartbeats change nothing."""
        return old is None or new is None or _looks(old) != _looks(new)

    async def reconcile(self, key: str) -> None:
        """Show the components of a node as they are, and no others."""
        node = self.objects.get(key)
        if node is None:  # the garbage collector takes them
            return
        components = self._of_node(key)
        for component, started in components.items():
            await self._show(component, node, started)
        wanted = {names(component, key) for component in components}
        for shown in self._shown(key):
            if shown["metadata"]["name"] not in wanted:
                await self._remove(shown)

    def _shown(self, node: str) -> Sequence[Object]:
        return [each for each in self.cache(PODS).values() if each["spec"].get("nodeName") == node]

    async def _show(self, component: str, node: Object, started: str) -> None:
        shown = self.cache(PODS).get(f"{NAMESPACE}/{names(component, node['metadata']['name'])}")
        if shown is not None and shown["metadata"].get("deletionTimestamp"):
            await self._remove(shown)
            shown = None
        if shown is None:
            try:
                shown = await self.client.create(PODS, pod(component, node), NAMESPACE)
            except AlreadyExists:
                return
        said = status(component, node, started)
        if _stripped(shown.get("status", {})) != _stripped(said):
            await self.client.update_status(PODS, {**shown, "status": said})

    async def _remove(self, shown: Object) -> None:
        try:
            meta = shown["metadata"]
            await self.client.delete(PODS, meta["name"], NAMESPACE, uid=meta["uid"], grace=0)
        except (Conflict, NotFound):
            pass


def _looks(node: Object) -> Any:
    said = node.get("status", {})
    ready = [each["status"] for each in said.get("conditions", ()) if each["type"] == "Ready"]
    return ready, said.get("addresses")


def _stripped(said: Object) -> Any:
    """Return what of a status is compared: times of transitions and the generation are the server's and others' business."""
    conditions = sorted((each["type"], each["status"]) for each in said.get("conditions", ()))
    containers = [(each["name"], each["ready"], each["state"]) for each in said.get("containerStatuses", ())]
    return said.get("phase"), said.get("podIP"), conditions, containers
