"""pyb bench what-if: how long an answer takes once a large cluster is read; no server is involved."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.harness.machine import describe_machine
from bench.harness.workloads import HIGH, HOST, NAMESPACE, ZONE, node, pod

SUMMARY = "what-if: processor time of each question on a cluster of 5,000 nodes and 30,000 pods"
_ZONES, _APPS = 10, 300
_MEMORY = 500 << 20

Object = dict[str, Any]


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench what-if", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=30_000)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    results = measure(options.nodes, options.pods)
    if options.json:
        result = {
            "benchmark": "what_if",
            "nodes": options.nodes,
            "pods": options.pods,
            "machine": describe_machine(),
        }
        print(json.dumps(result | {"seconds": results}))
        return 0
    for name, seconds in results.items():
        print(f"{name:<44} {seconds:7.3f} s")
    return 0


def objects(nodes: int, pods: int) -> dict[str, list[Object]]:
    """Return the lists of a cluster: replica sets in ten zones, half of them with a service, and budgets."""
    lists: dict[str, list[Object]] = {
        "nodes": [],
        "pods": [],
        "services": [],
        "replicasets": [],
        "poddisruptionbudgets": [],
    }
    for number in range(nodes):
        made = node(number, _ZONES)
        made["spec"] = {}
        lists["nodes"].append(made)
    for number in range(_APPS):
        name, labels = f"app-{number}", {"app": f"app-{number}"}
        meta = {"name": name, "namespace": NAMESPACE, "uid": name, "resourceVersion": "1"}
        selector = {"matchLabels": labels}
        lists["replicasets"].append(
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta,
             "spec": {"selector": selector, "template": {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}}}
        )  # fmt: skip
        if number % 2:
            lists["services"].append({"metadata": meta, "spec": {"selector": labels}})
        status = {"disruptionsAllowed": 10, "desiredHealthy": 1, "currentHealthy": 11}
        lists["poddisruptionbudgets"].append(
            {"metadata": meta, "spec": {"selector": selector}, "status": status}
        )
    lists["pods"] = [_running(number, nodes) for number in range(pods)]
    return lists


def _running(number: int, nodes: int) -> Object:
    app = f"app-{number % _APPS}"
    running = pod(f"{app}-{number}", cpu="500m", labels={"app": app}, nodeName=f"bench-node-{number % nodes}")
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app, "controller": True}
    running["metadata"] |= {"uid": f"uid-{number}", "resourceVersion": "1", "ownerReferences": [reference]}
    running["spec"] |= {"schedulerName": "default-scheduler", "priority": 0}
    running["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return running


def measure(nodes: int, pods: int) -> dict[str, float]:
    """Return the processor seconds of reading the lists into a cluster and of each question on it."""
    from pybernetes.cmd.what_if import QUESTIONS
    from pybernetes.lib.discover import discover
    from pybernetes.lib.memory import gc_tuning
    from pybernetes.tools.what_if import picture, tables
    from pybernetes.tools.what_if.cluster import Cluster

    questions, lists, results = discover(QUESTIONS, "QUESTION"), objects(nodes, pods), {}

    def read() -> Cluster:
        cluster = Cluster()
        for plural, items in lists.items():
            cluster.add(plural, items)
        cluster.add("priorityclasses", [{"metadata": {"name": HIGH}, "value": 1000}])
        return cluster

    gc_tuning.tune()  # the program itself reads only once, and collects nothing
    results["the lists, decoded, into a cluster"] = _timed(read)[0]
    with tempfile.TemporaryDirectory(prefix="pyb-bench-") as directory:
        file = str(_workload(Path(directory)))
        for words in (
            f"schedule -f {file}", f"schedule -f {file} --count 1000", f"schedule -f {_important(Path(directory))} --count 20",
            "drain bench-node-0 bench-node-1 bench-node-2", "lose bench-node-7", "lose zone-3",
            "add --shape cpu=8,memory=32Gi --count 100", f"fit -f {file} --shape cpu=8,memory=32Gi --count 1000 --empty",
            "scale rs/app-7 --replicas 1000",
        ):  # fmt: skip
            name, *arguments = words.split()
            parser = argparse.ArgumentParser()
            questions[name].add_arguments(parser)
            options = parser.parse_args(arguments)
            options.namespace = NAMESPACE
            ask, cluster = questions[name].prepare(options), read()
            seconds, answer = _timed(partial(ask, cluster))
            shown, _ = _timed(partial(tables.text, answer, 100, picture.style("utf-8", False)))
            results[words.replace(directory, "…")] = round(seconds + shown, 3)
    return results


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = work()
    return round(time.process_time() - begin, 3), result


def _workload(directory: Path) -> Path:
    """Write pods that are spread over zones and keep apart, if they can."""
    labels = {"matchLabels": {"app": "new"}}
    constraint = {
        "maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels,
    }  # fmt: skip
    term = {"weight": 10, "podAffinityTerm": {"topologyKey": HOST, "labelSelector": labels}}
    affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    manifest = pod("new", labels={"app": "new"}, topologySpreadConstraints=[constraint], affinity=affinity)
    return _written(directory / "new.json", manifest)


def _important(directory: Path) -> Path:
    """Write pods that need a whole node, and others to go."""
    return _written(directory / "important.json", pod("important", cpu="4", priorityClassName=HIGH))


def _written(path: Path, manifest: Object) -> Path:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", **manifest}))
    return path
