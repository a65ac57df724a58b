"""What the scheduler keeps of a pod. What pods of one template have in common is kept once: their shape."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import orjson

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object
from pybernetes.scheduling import resource_requests
from pybernetes.scheduling.affinity_terms import (
    NodeAffinity,
    PodAffinity,
    SpreadConstraint,
    Toleration,
    spread_constraint,
    tolerations_of,
)
from pybernetes.scheduling.resource_requests import Requests, Resources


class Labels:
    """A namespace and labels: what other pods' selectors see of a pod."""

    __slots__ = ("__weakref__", "counters", "labels", "namespace", "version")

    def __init__(self, namespace: str, labels: dict[str, str]) -> None:
        self.namespace = namespace
        self.labels = labels
        # The counters that count such pods, kept here by `counters.py`, and as of when.
        self.counters: tuple[Any, ...] = ()
        self.version: object = None


class Volumes(NamedTuple):
    """The volumes that have a say in where a pod can be."""

    claims: tuple[tuple[str, bool], ...]  # names in order and whether they are made for the pod (ephemeral)
    disks: tuple[tuple[str, Any, bool], ...]  # kind, identity and whether read-only; see `_disk`
    drivers: frozenset[str]  # of CSI volumes in the pod itself


class Owner(NamedTuple):
    """The controller of a pod."""

    api_version: str
    kind: str
    name: str


class Shape:
    """What the decision about a pod depends on; None stands for nothing asked."""

    __slots__ = ("__weakref__", "active", "affinity", "image_count", "images", "labels", "limits", "node_affinity", "owner",
                 "ports", "preempts", "priority", "requests", "scheduler", "spread", "tolerations", "volumes",
                 "weight")  # fmt: skip

    labels: Labels
    requests: Requests
    limits: tuple[tuple[str, float], ...]  # by name of the resource; for people only
    priority: int
    scheduler: str
    preempts: bool
    tolerations: tuple[Toleration, ...]
    node_affinity: NodeAffinity | None
    affinity: PodAffinity | None
    spread: tuple[SpreadConstraint, ...]
    ports: tuple[tuple[str, str, int], ...]  # address, protocol, port
    images: tuple[str, ...]
    image_count: int
    volumes: Volumes | None
    owner: Owner | None
    weight: int  # how many bytes it was made of, which is how much work a decision is
    active: Any  # the plugins that have something to say of such pods, kept here by `cycle.py`


class Pod:
    """A pod: its identity, its shape, and where it is."""

    __slots__ = ("condition", "deleting", "gates", "generation", "key", "name", "namespace", "node", "nominated",
                 "preempted", "priority", "requests", "shape", "started", "uid", "version")  # fmt: skip

    def __init__(self, namespace: str, name: str, uid: str, shape: Shape) -> None:
        self.namespace = namespace
        self.name = name
        self.key = f"{namespace}/{name}"
        self.uid = uid
        self.shape = shape
        self.requests = shape.requests
        self.priority = shape.priority
        self.version = ""
        self.generation = 0
        self.node = ""  # where it is, or is about to be
        self.nominated = ""  # where room is being made for it
        self.deleting = False
        self.preempted = False  # being deleted to make room
        self.gates: tuple[str, ...] = ()
        self.started = ""  # RFC 3339, which sorts as text
        self.condition: tuple[str, str, str, int] = (
            "",
            "",
            "",
            0,
        )  # PodScheduled: status, reason, message, generation

    def placed(self, node: str) -> Pod:
        """Return the same pod on a node."""
        other = Pod.__new__(Pod)
        other.namespace = self.namespace
        other.name = self.name
        other.key = self.key
        other.uid = self.uid
        other.shape = self.shape
        other.requests = self.requests
        other.priority = self.priority
        other.version = self.version
        other.generation = self.generation
        other.nominated = self.nominated
        other.deleting = self.deleting
        other.preempted = self.preempted
        other.gates = self.gates
        other.started = self.started
        other.condition = self.condition
        other.node = node
        return other

    def __repr__(self) -> str:
        return f"<pod {self.key} on {self.node or 'no node'}>"


class PodReader:
    """Makes pods of API objects, sharing what they have in common."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self._shapes: WeakValueDictionary[bytes, Shape] = WeakValueDictionary()
        self._labels: WeakValueDictionary[bytes, Labels] = WeakValueDictionary()
        self._node_affinities: WeakValueDictionary[bytes, NodeAffinity] = WeakValueDictionary()
        self._affinities: WeakValueDictionary[bytes, PodAffinity] = WeakValueDictionary()
        # Plain values cannot be referred to weakly; there are few, and a limit keeps it so.
        self._values: dict[Any, Any] = {}

    def read(self, obj: Object) -> Pod:
        """Read a pod from its API object."""
        meta, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
        pod = Pod(meta.get("namespace", ""), meta["name"], meta.get("uid", ""), self.shape(meta, spec))
        pod.version = meta.get("resourceVersion", "")
        pod.generation = meta.get("generation", 0)
        pod.node = spec.get("nodeName", "")
        pod.nominated = status.get("nominatedNodeName", "")
        pod.deleting = "deletionTimestamp" in meta
        pod.gates = tuple(gate.get("name", "") for gate in spec.get("schedulingGates") or ())
        pod.started = status.get("startTime") or ""
        for condition in status.get("conditions") or ():
            kind = condition.get("type")
            if kind == "PodScheduled":
                pod.condition = (
                    condition.get("status", ""), condition.get("reason", ""), condition.get("message", ""),
                    condition.get("observedGeneration", 0),
                )  # fmt: skip
            elif kind == "DisruptionTarget":
                pod.preempted = (
                    condition.get("status") == "True" and condition.get("reason") == "PreemptionByScheduler"
                )
        if pod.node and resource_requests.has_status(status):
            pod.requests = self._shared(resource_requests.of_pod(spec, status, self.resources))
        return pod

    def shape(self, meta: Object, spec: Object) -> Shape:
        """Return the shape of a pod, shared with every pod like it."""
        labels = meta.get("labels") or {}
        namespace = meta.get("namespace", "")
        containers = [_relevant(container) for container in spec.get("containers") or ()]
        beginners = [_relevant(container) for container in spec.get("initContainers") or ()]
        volumes = [volume for volume in spec.get("volumes") or () if not _IRRELEVANT.issuperset(volume)]
        owner = next(
            (reference for reference in meta.get("ownerReferences") or () if reference.get("controller")),
            None,
        )
        for position, volume in enumerate(volumes):
            if "ephemeral" in volume:  # its claim is named after the pod
                volumes[position] = {"ephemeral": f"{meta.get('name', '')}-{volume.get('name', '')}"}
        key = orjson.dumps(
            [
                namespace, labels, containers, beginners, volumes,
                spec.get("nodeSelector"), spec.get("affinity"), spec.get("tolerations"),
                spec.get("topologySpreadConstraints"), spec.get("overhead"), spec.get("resources"),
                spec.get("priority"), spec.get("preemptionPolicy"), spec.get("schedulerName"),
                owner and [owner.get("apiVersion"), owner.get("kind"), owner.get("name")],
            ],
            option=orjson.OPT_SORT_KEYS,
        )  # fmt: skip
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = self._make(namespace, dict(labels), spec, volumes, owner)
            shape.weight = len(key)
        return shape

    def _make(
        self, namespace: str, labels: dict[str, str], spec: Object, volumes: list[Any], owner: Object | None
    ) -> Shape:
        shape = Shape()
        shape.active = None
        key = orjson.dumps([namespace, labels], option=orjson.OPT_SORT_KEYS)
        shape.labels = self._labels.get(key) or self._labels.setdefault(key, Labels(namespace, labels))
        shape.requests = self._shared(resource_requests.of_pod(spec, None, self.resources))
        shape.limits = self._shared(_limits(spec))
        shape.priority = spec.get("priority") or 0
        shape.scheduler = spec.get("schedulerName", "default-scheduler")
        shape.preempts = spec.get("preemptionPolicy") != "Never"
        shape.tolerations = self._shared(tolerations_of(spec))
        affinity = spec.get("affinity") or {}
        shape.node_affinity = self._node_affinity(spec.get("nodeSelector"), affinity.get("nodeAffinity"))
        shape.affinity = self._affinity(affinity, namespace)
        shape.spread = tuple(
            spread_constraint(constraint, labels)
            for constraint in spec.get("topologySpreadConstraints") or ()
        )
        shape.ports = self._shared(_ports(spec))
        shape.images, shape.image_count = self._shared(_images(spec)), _image_count(spec)
        shape.volumes = _volumes(volumes)
        shape.owner = None
        if owner is not None:
            names = owner.get("apiVersion", ""), owner.get("kind", ""), owner.get("name", "")
            shape.owner = self._shared(Owner(*names))
        return shape

    def _node_affinity(self, selector: Any, affinity: Any) -> NodeAffinity | None:
        if not selector and not affinity:
            return None
        key = orjson.dumps([selector, affinity], option=orjson.OPT_SORT_KEYS)
        parsed = self._node_affinities.get(key)
        if parsed is None:
            parsed = self._node_affinities[key] = NodeAffinity(selector or {}, affinity or {})
        return parsed

    def _affinity(self, affinity: Object, namespace: str) -> PodAffinity | None:
        near, apart = affinity.get("podAffinity"), affinity.get("podAntiAffinity")
        if not near and not apart:
            return None
        key = orjson.dumps([near, apart, namespace], option=orjson.OPT_SORT_KEYS)
        parsed = self._affinities.get(key)
        if parsed is None:
            parsed = self._affinities[key] = PodAffinity(affinity, namespace)
        return parsed

    def _shared(self, value: Any) -> Any:
        if len(self._values) > 10_000:
            self._values.clear()
        return self._values.setdefault(value, value)


def _relevant(container: Object) -> list[Any]:
    """Return the parts of a container that the decision depends on."""
    ports = container.get("ports")
    if ports:
        ports = [port for port in ports if port.get("hostPort")]
    return [container.get("image"), container.get("resources"), ports or None, container.get("restartPolicy")]


# Volumes of no consequence for where a pod can be; `name` stands beside each.
_IRRELEVANT = frozenset(
    [
        "name",
        "projected",
        "configMap",
        "secret",
        "emptyDir",
        "hostPath",
        "downwardAPI",
        "nfs",
        "gitRepo",
        "glusterfs",
        "cephfs",
        "cinder",
        "fc",
        "flocker",
        "azureFile",
        "azureDisk",
        "flexVolume",
        "vsphereVolume",
        "quobyte",
        "photonPersistentDisk",
        "portworxVolume",
        "scaleIO",
        "storageos",
    ]
)


def _containers(spec: Object) -> list[Object]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _limits(spec: Object) -> tuple[tuple[str, float], ...]:
    """Return what a pod may use at most, in cores, bytes and counts."""
    totals = resource_totals.limits({"spec": spec})
    return tuple((name, float(quantity.parse(text))) for name, text in sorted(totals.items()))


def _ports(spec: Object) -> tuple[tuple[str, str, int], ...]:
    """Return the host ports that a pod takes: those of its containers and sidecars."""
    return tuple(
        (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])
        for kind in ("initContainers", "containers")
        for container in spec.get(kind) or ()
        if kind == "containers" or container.get("restartPolicy") == "Always"
        for port in container.get("ports") or ()
        if port.get("hostPort")
    )


def _images(spec: Object) -> tuple[str, ...]:
    images = [container.get("image", "") for container in _containers(spec)]
    images += [
        volume["image"].get("reference", "") for volume in spec.get("volumes") or () if volume.get("image")
    ]
    return tuple(with_tag(image) for image in images if image)


def with_tag(image: str) -> str:
    """Return the name of an image, with the tag ``latest`` if it has none."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


def _image_count(spec: Object) -> int:
    return len(_containers(spec)) + sum(1 for volume in spec.get("volumes") or () if volume.get("image"))


def _volumes(volumes: list[Any]) -> Volumes | None:
    claims, disks, drivers = [], [], set()
    for volume in volumes:
        if volume.get("persistentVolumeClaim"):
            claims.append((volume["persistentVolumeClaim"].get("claimName", ""), False))
        elif volume.get("ephemeral"):
            claims.append((volume["ephemeral"], True))
        elif volume.get("csi"):
            drivers.add(volume["csi"].get("driver", ""))
        else:
            disk = _disk(volume)
            if disk is not None:
                disks.append(disk)
    if not claims and not disks and not drivers:
        return None
    return Volumes(tuple(claims), tuple(disks), frozenset(drivers))


def _disk(volume: Object) -> tuple[str, Any, bool] | None:
    """Return a disk that two pods on a node cannot both write to."""
    if source := volume.get("gcePersistentDisk"):
        return ("gce", source.get("pdName", ""), bool(source.get("readOnly")))
    if source := volume.get("awsElasticBlockStore"):
        return ("aws", source.get("volumeID", ""), False)  # not even to be read twice
    if source := volume.get("iscsi"):
        return ("iscsi", source.get("iqn", ""), bool(source.get("readOnly")))
    if source := volume.get("rbd"):
        identity = (source.get("pool", ""), source.get("image", ""), frozenset(source.get("monitors") or ()))
        return ("rbd", identity, bool(source.get("readOnly")))
    return None
