"""Small clusters for questions, made of lists as a server would give them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from pybernetes.api.resource import Object
from pybernetes.lib.discover import discover
from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster
from tests.scheduling.builders import pod

QUESTIONS = discover("pybernetes.tools.what_if.questions", "QUESTION")
ZONE = "topology.kubernetes.io/zone"
POLICY = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "even",
            "pluginConfig": [
                {"name": "DefaultEvictor", "args": {}},
                {
                    "name": "LowNodeUtilization",
                    "args": {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 30}},
                },
            ],
            "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
        }
    ],
}


def running(
    name: str,
    node: str,
    cpu: str = "1",
    owner: str = "ReplicaSet/app",
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> Object:
    """Return a pod that runs on a node; ``owner`` is the kind and name of its controller, or empty."""
    obj = pod(name, cpu, labels=labels or {"app": "app"}, nodeName=node, **spec)
    obj["metadata"] |= {"uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if owner:
        kind, _, of = owner.partition("/")
        version = "batch/v1" if kind == "Job" else "v1" if kind == "Node" else "apps/v1"
        reference = {"apiVersion": version, "kind": kind, "name": of, "uid": f"uid-{of}", "controller": True}
        obj["metadata"]["ownerReferences"] = [reference]
    obj["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return obj


def pending(name: str, cpu: str = "1", **spec: Any) -> Object:
    """Return a pod that has no node."""
    obj = running(name, "", cpu, **spec)
    del obj["spec"]["nodeName"]
    obj["status"] = {"phase": "Pending"}
    return obj


def budget(name: str, allowed: int, **spec: Any) -> Object:
    """Return a disruption budget of the pods with the label app=app."""
    selector = {"matchLabels": {"app": "app"}}
    status = {"disruptionsAllowed": allowed, "desiredHealthy": 2, "currentHealthy": 2 + allowed}
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": selector, **spec},
        "status": status,
    }


def cluster(nodes: list[Object], pods: list[Object] | None = None, **lists: list[Object]) -> Cluster:
    """Return a cluster of lists."""
    result = Cluster()
    result.add("nodes", nodes)
    for plural, objects in lists.items():
        result.add(plural, objects)
    result.add("pods", pods or [])
    return result


def ask(
    cluster: Cluster,
    question: str,
    *arguments: str,
    file: Path | None = None,
    objects: Any = None,
    evictions: Iterable[tuple[str, str]] = (),
) -> Answer:
    """Ask a question as the command line does; ``objects`` are written into the file first."""
    parser = argparse.ArgumentParser()
    QUESTIONS[question].add_arguments(parser)
    words = list(arguments)
    if file is not None:
        file.write_text(yaml.safe_dump_all(objects))
        words += ["-f", str(file)]
    options = parser.parse_args(words)
    options.namespace, options.evictions = "default", list(evictions)
    return QUESTIONS[question].prepare(options)(cluster)


def where(answer: Answer) -> dict[str, str]:
    """Return the node of every pod that gets one or stays pending (an empty text)."""
    return {placement.pod.name: placement.node for placement in answer.placements if not placement.gone}


def deployment(name: str, replicas: int, cpu: str = "1", **spec: Any) -> Object:
    """Return a Deployment."""
    container = {"name": "main", "image": "example/app:1", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}}
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }  # fmt: skip
