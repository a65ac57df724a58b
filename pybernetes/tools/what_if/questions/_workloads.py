"""The pods that a file asks for, shared by the questions that take one."""

from __future__ import annotations

import argparse

from pybernetes.api.resource import Object, Resource
from pybernetes.scheduling.persistent_volumes import key_of
from pybernetes.scheduling.pods import Pod
from pybernetes.tools.what_if import manifests
from pybernetes.tools.what_if.claims import store_claim
from pybernetes.tools.what_if.cluster import Cluster, QuestionError
from pybernetes.tools.what_if.replicas import DAEMON_SET, is_workload, pods_of
from pybernetes.tools.what_if.simulation import DAEMON, NEW, Simulation

# Kinds that make no pods but have a say in where they go; others are passed over.
_LOOKED_UP = frozenset(
    ("Namespace", "Service", "PriorityClass", "LimitRange", "RuntimeClass", "PersistentVolume", "StorageClass",
     "PodDisruptionBudget", "CSIDriver")
)  # fmt: skip

Objects = list[tuple[Resource, Object]]


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the argument of a file."""
    parser.add_argument(
        "-f",
        "--filename",
        required=True,
        metavar="FILE",
        help="Pods or workloads, in YAML or JSON; - reads them from here",
    )


def read(options: argparse.Namespace) -> Objects:
    """Read the file; raise QuestionError if no pods come of it."""
    objects = manifests.read(options.filename, options.namespace)
    if not any(is_workload(resource.kind) for resource, _ in objects):
        kinds = ", ".join(sorted({resource.kind for resource, _ in objects}))
        raise QuestionError(f"{options.filename}: kind: no pods come of {kinds}")
    return objects


def pods(cluster: Cluster, objects: Objects, count: int | None, notes: list[str]) -> list[tuple[Pod, str]]:
    """Return the pods of some objects with their cause, after the other objects were added to the cluster."""
    for resource, obj in objects:
        if resource.kind == "PersistentVolumeClaim":
            store_claim(cluster, obj)
        elif resource.kind in _LOOKED_UP:
            cluster.add(resource.plural, [obj])
        elif not is_workload(resource.kind):
            notes.append(f"{resource.kind} {obj['metadata']['name']}: has no say in where pods go")
    result: list[tuple[Pod, str]] = []
    for resource, obj in objects:
        if not is_workload(resource.kind):
            continue
        if resource.kind != "Pod" and cluster.listers.get(resource.plural, key_of(obj)) is not None:
            name = f"{resource.kind} {key_of(obj)}"
            notes.append(f"{name} exists: the answer is about as many pods more, not about a rollout")
        daemon = resource.kind == DAEMON_SET
        made = pods_of(cluster, obj, None if daemon else count)
        result += [(pod, DAEMON if daemon else NEW) for pod in made]
    taken = {pod.key for pod in cluster.all_pods()}
    for pod, _ in result:
        if pod.key in taken and pod.shape.owner is None:
            raise QuestionError(f'metadata.name: pods "{pod.key}" already exists')
    return result


def enqueue(simulation: Simulation, new: list[tuple[Pod, str]]) -> None:
    """Let pods look for a node."""
    for pod, cause in new:
        simulation.enqueue(pod, cause)
