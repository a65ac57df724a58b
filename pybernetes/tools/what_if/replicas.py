"""The pods that the controllers would make of a workload: names, labels, owners and claims as theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pybernetes.api.core.pod.daemon_tolerations import tolerations
from pybernetes.api.resource import Object
from pybernetes.client.client import copy
from pybernetes.scheduling.pods import Pod
from pybernetes.tools.what_if.admission import admit
from pybernetes.tools.what_if.claims import add_claim, add_claims
from pybernetes.tools.what_if.cluster import Cluster, QuestionError

TEMPLATE_HASH = "pod-template-hash"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# Number of pods that one question may ask for.
MAX_PODS = 100_000


def pods_of(cluster: Cluster, obj: Object, count: int | None = None, first: int = 0) -> list[Pod]:
    """Return the pods of a Pod or a workload: as many as it says, or ``count``, numbered from ``first`` on."""
    maker = _MAKERS.get(obj["kind"])
    if maker is None:
        known = ", ".join(_MAKERS)
        raise QuestionError(f"kind: {obj['kind']} {obj['metadata']['name']} makes no pods; these do: {known}")
    if count is not None and not 0 <= count <= MAX_PODS:
        raise QuestionError(f"the number of pods must be from 0 to {MAX_PODS}, not {count}")
    return [_read(cluster, pod) for pod in maker(cluster, obj, count, first)]


def _read(cluster: Cluster, obj: Object) -> Pod:
    admit(obj, cluster.listers)
    meta = obj["metadata"]
    meta.setdefault("uid", f"what-if/{meta['namespace']}/{meta['name']}")
    add_claims(cluster, obj)
    return cluster.pod_reader.read(obj)


def _pods(cluster: Cluster, obj: Object, count: int | None, first: int) -> Iterator[Object]:
    if obj["spec"].get("nodeName"):
        name = obj["metadata"]["name"]
        raise QuestionError(
            f"pod {name}: spec.nodeName: Forbidden: the pod has a node, the scheduler is not asked"
        )
    for number in range(first, first + (1 if count is None else count)):
        pod = copy(obj)
        if count is not None:
            pod["metadata"]["name"] += f"-{number}"
        pod["metadata"].pop("uid", None)
        pod["status"] = {}
        yield pod


def from_template(template: Object, owner: Object, name: str, labels: Object | None = None) -> Object:
    """Return a pod of a template that belongs to a controller."""
    template, meta = copy(template), owner["metadata"]
    own = template.get("metadata") or {}
    reference = {
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "controller": True,
        "uid": meta.get("uid", ""),
    }  # fmt: skip
    metadata = {
        "name": name, "namespace": meta["namespace"], "labels": {**(own.get("labels") or {}), **(labels or {})},
        "annotations": own.get("annotations") or {}, "ownerReferences": [reference],
    }  # fmt: skip
    return {"metadata": metadata, "spec": template["spec"]}


def _deployment(cluster: Cluster, obj: Object, count: int | None, first: int) -> Iterator[Object]:
    """Make the pods of the replica set that a deployment would make."""
    meta, spec = obj["metadata"], copy(obj["spec"])
    labels = {TEMPLATE_HASH: "what-if"}
    spec["selector"] = spec.get("selector") or {}
    spec["selector"]["matchLabels"] = {**(spec["selector"].get("matchLabels") or {}), **labels}
    replica_set = {
        "kind": "ReplicaSet", "apiVersion": "apps/v1", "spec": spec,
        "metadata": {"name": f"{meta['name']}-what-if", "namespace": meta["namespace"]},
    }  # fmt: skip
    return _replica_set(cluster, replica_set, count, first, labels)


def _replica_set(
    cluster: Cluster, obj: Object, count: int | None, first: int, labels: Object | None = None
) -> Iterator[Object]:
    meta, spec = obj["metadata"], obj["spec"]
    plural = "replicasets" if obj["kind"] == "ReplicaSet" else "replicationcontrollers"
    key = f"{meta['namespace']}/{meta['name']}"
    if cluster.listers.get(plural, key) is None:
        cluster.listers.set(plural, key, obj)
    for number in range(first, first + (spec.get("replicas", 1) if count is None else count)):
        yield from_template(spec["template"], obj, f"{meta['name']}-{number}", labels)


def _stateful_set(cluster: Cluster, obj: Object, count: int | None, first: int) -> Iterator[Object]:
    meta, spec = obj["metadata"], obj["spec"]
    namespace, key = meta["namespace"], f"{meta['namespace']}/{meta['name']}"
    if cluster.listers.get("statefulsets", key) is None:
        cluster.listers.set("statefulsets", key, obj)
    start = (spec.get("ordinals") or {}).get("start", 0) + first
    for number in range(start, start + (spec.get("replicas", 1) if count is None else count)):
        name = f"{meta['name']}-{number}"
        labels = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(number)}
        pod = from_template(spec["template"], obj, name, labels)
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
        for template in spec.get("volumeClaimTemplates") or ():
            volume = template["metadata"]["name"]
            claim = f"{volume}-{name}"
            volumes[volume] = {"name": volume, "persistentVolumeClaim": {"claimName": claim}}
            add_claim(cluster, namespace, claim, template["spec"])
        pod["spec"]["volumes"] = list(volumes.values())
        yield pod


def _job(cluster: Cluster, obj: Object, count: int | None, first: int) -> Iterator[Object]:
    meta, spec = obj["metadata"], obj["spec"]
    at_once = spec.get("parallelism", 1)
    if spec.get("completions") is not None:
        at_once = min(at_once, spec["completions"])
    for number in range(first, first + (at_once if count is None else count)):
        yield from_template(spec["template"], obj, f"{meta['name']}-{number}")


def _daemon_set(cluster: Cluster, obj: Object, count: int | None, first: int) -> Iterator[Object]:
    if count is not None:
        raise QuestionError(f"DaemonSet {obj['metadata']['name']}: it has one pod for each node, not a count")
    for node in cluster.nodes():
        yield daemon_pod(obj, node)


def daemon_pod(obj: Object, node: str) -> Object:
    """Return a daemon set's pod for a node: it fits there if the node is meant for it, and nowhere else."""
    pod = from_template(obj["spec"]["template"], obj, f"{obj['metadata']['name']}-{node}")
    spec = pod["spec"]
    spec["tolerations"] = tolerations(spec)
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    affinity[_REQUIRED] = {
        "nodeSelectorTerms": [
            {**term, "matchFields": [*(term.get("matchFields") or ()), field]} for term in terms
        ]
    }
    return pod


def daemon_pods(cluster: Cluster, node: str) -> list[Pod]:
    """Return the pods that the cluster's daemon sets would make for a node, meant for it or not."""
    return [_read(cluster, daemon_pod(obj, node)) for obj in cluster.listers.all("daemonsets")]


Maker = Callable[[Cluster, Object, int | None, int], Iterator[Object]]
_MAKERS: dict[str, Maker] = {
    "Pod": _pods,
    "Deployment": _deployment,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replica_set,
    "StatefulSet": _stateful_set,
    "Job": _job,
    "DaemonSet": _daemon_set,
}
DAEMON_SET = "DaemonSet"


def is_workload(kind: str) -> bool:
    """Return whether pods are made of objects of a kind."""
    return kind in _MAKERS
