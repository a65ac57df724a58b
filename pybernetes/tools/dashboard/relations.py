"""How the objects of a namespace belong together: who lets traffic in, who serves it, who made whom, where it runs. Pure.

Boxes stand in columns: ways in, services, what makes pods, pods, nodes, storage. Pods of one maker are one box when there are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pybernetes.api.resource import Object

_GATEWAYS = "gateways.gateway.networking.k8s.io"
# What is read, by resource, and the column that it stands in.
COLUMNS = {
    "ingresses.networking.k8s.io": 0, _GATEWAYS: 0, "httproutes.gateway.networking.k8s.io": 0,
    "services": 1, "deployments.apps": 2, "statefulsets.apps": 2, "daemonsets.apps": 2, "replicasets.apps": 2, "jobs.batch": 2,
    "cronjobs.batch": 2, "pods": 3, "nodes": 4, "persistentvolumeclaims": 4, "persistentvolumes": 4,
}  # fmt: skip
SLICES = "endpointslices.discovery.k8s.io"
GOOD, WAIT, BAD = "good", "wait", "bad"
# More pods than that are shown by their maker.
MOST_PODS = 60
_SERVICE_NAME = "kubernetes.io/service-name"
Objects = Mapping[str, Iterable[Object]]


def graph(objects: Objects) -> dict[str, Any]:
    """Return boxes, by their ids, and pairs of ids that belong together."""
    return _Graph(objects).result()


class _Graph:
    def __init__(self, objects: Objects) -> None:
        self._of = {resource: list(objects.get(resource, ())) for resource in (*COLUMNS, SLICES)}
        self._boxes: dict[str, dict[str, Any]] = {}
        self._edges: dict[tuple[str, str], None] = {}
        self._kinds = {
            obj["metadata"].get("uid"): (resource, obj) for resource in COLUMNS for obj in self._of[resource]
        }
        self._named = {
            resource: {_key(obj): obj for obj in self._of[resource]}
            for resource in ("nodes", "persistentvolumeclaims", _GATEWAYS)
        }

    def result(self) -> dict[str, Any]:
        grouped = len(self._of["pods"]) > MOST_PODS
        makers = {_key(pod): self._maker(pod) for pod in self._of["pods"]}
        for pod in self._of["pods"]:
            self._add_pod(pod, makers[_key(pod)], grouped)
        for service in self._of["services"]:
            self._box("services", service, GOOD)
        self._add_endpoints(makers, grouped)
        for resource in ("ingresses.networking.k8s.io", "httproutes.gateway.networking.k8s.io"):
            for way in self._of[resource]:
                self._add_way(resource, way)
        return {"boxes": list(self._boxes.values()), "edges": [list(edge) for edge in self._edges]}

    # -- pods --------------------------------------------------------------------------------------------

    def _maker(self, obj: Object) -> tuple[str, Object] | None:
        """Return what in the end makes an object, such as the Deployment of a pod; None if it was made by hand."""
        maker = None
        for _ in range(5):  # owners could own one another
            owner = next((item for item in _owners(obj) if item.get("controller")), None)
            known = self._kinds.get(owner.get("uid")) if owner else None
            if known is None:
                return maker
            maker = known
            obj = known[1]
        return maker

    def _pod_id(self, pod: Object, maker: tuple[str, Object] | None, grouped: bool) -> str:
        if grouped and maker is not None:
            return f"pods of {_id(*maker)}"
        return _id("pods", pod)

    def _add_pod(self, pod: Object, maker: tuple[str, Object] | None, grouped: bool) -> None:
        state = pod_state(pod)
        identity = self._pod_id(pod, maker, grouped)
        if identity.startswith("pods of ") and maker is not None:
            box = self._boxes.setdefault(
                identity, self._new(identity, "pods", 3, maker[1], "", {"states": Counter()})
            )
            box["states"][state] += 1
            box["text"] = ", ".join(f"{count} {name}" for name, count in sorted(box["states"].items()))
            box["state"] = next(name for name in (BAD, WAIT, GOOD) if box["states"][name])
        else:
            self._box("pods", pod, state)
        if maker is not None:
            self._edge(self._box(maker[0], maker[1], maker_state(maker[1])), identity)
        if node := (pod.get("spec") or {}).get("nodeName"):
            self._edge(identity, self._node(node))
        for claim in _claims(pod):
            self._add_claim(identity, pod["metadata"].get("namespace", ""), claim)

    def _node(self, name: str) -> str:
        node = self._named["nodes"].get(("", name))
        if node is not None:
            return self._box("nodes", node, GOOD if _condition(node, "Ready") else BAD)
        return self._box("nodes", {"metadata": {"name": name}}, GOOD)  # the user may not see nodes

    def _add_claim(self, pod: str, namespace: str, name: str) -> None:
        claim = self._named["persistentvolumeclaims"].get((namespace, name))
        if claim is None:
            missing = {"metadata": {"name": name, "namespace": namespace}}
            self._edge(pod, self._box("persistentvolumeclaims", missing, BAD))
            return
        bound = (claim.get("status") or {}).get("phase") == "Bound"
        box = self._box("persistentvolumeclaims", claim, GOOD if bound else WAIT)
        self._edge(pod, box)
        if volume := (claim.get("spec") or {}).get("volumeName"):
            self._boxes[box]["text"] = volume

    # -- traffic -----------------------------------------------------------------------------------------

    def _add_endpoints(self, makers: Mapping[Any, Any], grouped: bool) -> None:
        pods = {_key(pod): pod for pod in self._of["pods"]}
        ready: Counter[str] = Counter()
        for slice_ in self._of[SLICES]:
            meta = slice_["metadata"]
            served = f"services/{meta.get('namespace', '')}/{(meta.get('labels') or {}).get(_SERVICE_NAME)}"
            if served not in self._boxes:
                continue
            for endpoint in slice_.get("endpoints") or ():
                target = endpoint.get("targetRef") or {}
                key = (target.get("namespace", ""), target.get("name"))
                ready[served] += bool((endpoint.get("conditions") or {}).get("ready", True))
                if target.get("kind") == "Pod" and key in pods:
                    self._edge(served, self._pod_id(pods[key], makers[key], grouped))
        for service in self._of["services"]:
            box = self._boxes[_id("services", service)]
            if (service.get("spec") or {}).get("type") != "ExternalName":
                box["text"] = f"{ready[box['id']]} ready"
                box["state"] = GOOD if ready[box["id"]] else BAD

    def _add_way(self, resource: str, way: Object) -> None:
        namespace = way["metadata"].get("namespace", "")
        names = dict.fromkeys(_backends(way.get("spec") or {}))
        known = {name: f"services/{namespace}/{name}" in self._boxes for name in names}
        box = self._box(resource, way, GOOD if all(known.values()) else BAD)
        for name, exists in known.items():
            if not exists:
                self._box("services", {"metadata": {"name": name, "namespace": namespace}}, BAD)
            self._edge(box, f"services/{namespace}/{name}")
        for parent in (way.get("spec") or {}).get("parentRefs") or ():
            gateway = self._named[_GATEWAYS].get((parent.get("namespace") or namespace, parent.get("name")))
            if gateway is not None:
                good = GOOD if _condition(gateway, "Programmed") else WAIT
                self._edge(self._box(_GATEWAYS, gateway, good), box)

    # -- boxes -------------------------------------------------------------------------------------------

    def _box(self, resource: str, obj: Object, state: str) -> str:
        identity = _id(resource, obj)
        if identity not in self._boxes:
            self._boxes[identity] = self._new(identity, resource, COLUMNS[resource], obj, state, {})
        return identity

    def _new(
        self, identity: str, resource: str, column: int, obj: Object, state: str, more: dict[str, Any]
    ) -> dict[str, Any]:
        meta = obj["metadata"]
        return {
            "id": identity, "resource": resource, "column": column, "namespace": meta.get("namespace", ""),
            "name": meta["name"], "state": state, "text": "", **more,
        }  # fmt: skip

    def _edge(self, one: str, other: str) -> None:
        self._edges[one, other] = None


def _id(resource: str, obj: Object) -> str:
    meta = obj["metadata"]
    return f"{resource}/{meta.get('namespace', '')}/{meta['name']}"


def _key(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _owners(obj: Object) -> Iterable[Object]:
    return obj["metadata"].get("ownerReferences") or ()


def _condition(obj: Object, name: str) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(item.get("type") == name and item.get("status") == "True" for item in conditions)


def _claims(pod: Object) -> Iterator[str]:
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
            yield claim


def _backends(spec: Object) -> Iterator[str]:
    """Yield the services that an Ingress or an HTTPRoute leads to."""
    default = (spec.get("defaultBackend") or {}).get("service") or {}
    if default.get("name"):
        yield default["name"]
    for rule in spec.get("rules") or ():
        for path in (rule.get("http") or {}).get("paths") or ():
            if name := ((path.get("backend") or {}).get("service") or {}).get("name"):
                yield name
        for backend in rule.get("backendRefs") or ():
            if backend.get("kind", "Service") == "Service" and backend.get("name"):
                yield backend["name"]


def pod_state(pod: Object) -> str:
    """Return how a pod is, in a word."""
    phase = (pod.get("status") or {}).get("phase")
    if phase == "Failed":
        return BAD
    if phase == "Succeeded" or _condition(pod, "Ready"):
        return GOOD
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    waits = [((item.get("state") or {}).get("waiting") or {}).get("reason", "") for item in statuses]
    return BAD if any(reason.endswith(("BackOff", "Error")) for reason in waits) else WAIT


def maker_state(maker: Object) -> str:
    """Return how something that makes pods is, in a word: whether all that it wants are ready."""
    spec, status = maker.get("spec") or {}, maker.get("status") or {}
    if "desiredNumberScheduled" in status:
        wanted, ready = status["desiredNumberScheduled"], status.get("numberReady", 0)
    else:
        wanted, ready = spec.get("replicas", 0), status.get("readyReplicas", 0)
    return GOOD if ready >= wanted else WAIT if ready else BAD
