"""scale: what if a workload had more or fewer replicas?"""

from __future__ import annotations

import argparse
from collections import Counter

from pybernetes.api.resource import Object
from pybernetes.scheduling.persistent_volumes import key_of
from pybernetes.scheduling.pods import Pod
from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster, QuestionError
from pybernetes.tools.what_if.question import Ask, Question
from pybernetes.tools.what_if.replicas import MAX_PODS, pods_of
from pybernetes.tools.what_if.simulation import NEW, SCALED, Simulation

_KINDS = {
    name: plural
    for plural, names in {
        "deployments": ("deployment", "deployments", "deploy", "deployments.apps", "deployment.apps"),
        "replicasets": ("replicaset", "replicasets", "rs", "replicasets.apps", "replicaset.apps"),
        "statefulsets": ("statefulset", "statefulsets", "sts", "statefulsets.apps", "statefulset.apps"),
        "replicationcontrollers": ("replicationcontroller", "replicationcontrollers", "rc"),
    }.items()
    for name in names
}
_REVISION = "deployment.kubernetes.io/revision"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""
    parser.add_argument(
        "workload", metavar="KIND/NAME", help="deployment, replicaset, statefulset or replicationcontroller"
    )
    parser.add_argument("--replicas", type=int, required=True, metavar="N")


def prepare(options: argparse.Namespace) -> Ask:
    """Read which workload is meant."""
    kind, slash, name = options.workload.partition("/")
    plural = _KINDS.get(kind.lower())
    if not slash or not name or plural is None:
        raise QuestionError(
            f"KIND/NAME: Invalid value: {options.workload!r}: deployment, replicaset, statefulset or "
            "replicationcontroller, a slash, and the name"
        )
    if not 0 <= options.replicas <= MAX_PODS:
        raise QuestionError(f"--replicas: Invalid value: {options.replicas}: must be from 0 to {MAX_PODS}")

    def ask(cluster: Cluster) -> Answer:
        answer = Answer("scale", cluster.use())
        owner = _controller(cluster, plural, f"{options.namespace}/{name}")
        own = [pod for pod in cluster.all_pods() if _is_of(pod, owner) and not pod.deleting]
        simulation = Simulation(cluster, frozenset((NEW,)))
        more = options.replicas - len(own)
        for pod in leaving(cluster, own, owner["kind"] == "StatefulSet")[: max(0, -more)]:
            if pod.node:
                simulation.take_off(pod)
            else:
                cluster.waiting.remove(pod)
            simulation.let_go(pod, SCALED, "no longer wanted", pod.node)
        simulation.enqueue_waiting()
        for pod in pods_of(cluster, owner, max(0, more), first=len(own)):
            simulation.enqueue(pod, NEW)
        simulation.run()
        answer.finish(cluster, simulation)
        answer.result = f"{options.workload} would go from {len(own)} to {options.replicas} pods"
        return answer

    return ask


def _controller(cluster: Cluster, plural: str, key: str) -> Object:
    """Return the object whose pods they are: of a deployment, its newest replica set."""
    obj = cluster.listers.get(plural, key)
    if obj is None:
        raise QuestionError(f'{plural} "{key}" not found')
    if plural != "deployments":
        return obj
    uid = obj["metadata"].get("uid")
    sets = [
        replicaset
        for replicaset in cluster.listers.all("replicasets")
        if any(owner.get("uid") == uid for owner in replicaset["metadata"].get("ownerReferences") or ())
    ]
    return max(sets, key=_revision, default=obj)


def _revision(replica_set: Object) -> int:
    text = (replica_set["metadata"].get("annotations") or {}).get(_REVISION, "0")
    return int(text) if text.isdecimal() else 0


def _is_of(pod: Pod, controller: Object) -> bool:
    owner = pod.shape.owner
    if owner is None or owner.kind != controller["kind"]:
        return False
    return f"{pod.namespace}/{owner.name}" == key_of(controller)


def leaving(cluster: Cluster, pods: list[Pod], ordered: bool) -> list[Pod]:
    """Return the pods in the order in which their controller removes them; ``ordered`` if by their numbers."""
    if ordered:
        return sorted(pods, key=lambda pod: _ordinal(pod.name), reverse=True)
    beside = Counter(pod.node for pod in pods)

    def order(pod: Pod) -> tuple[bool, bool, bool, int, int]:
        inputs = cluster.inputs_of(pod)
        return bool(pod.node), inputs.running, inputs.ready, inputs.deletion_cost, -beside[pod.node]

    newest = sorted(pods, key=lambda pod: (cluster.inputs_of(pod).created, pod.key), reverse=True)
    return sorted(newest, key=order)


def _ordinal(name: str) -> int:
    number = name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


QUESTION = Question("what if a workload had so many replicas", add_arguments, prepare)
