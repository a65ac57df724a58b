"""pyb bench descheduler: what a pass over a large cluster costs, with every plugin; no server is involved."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from bench.harness.machine import describe_machine

SUMMARY = "the descheduler's decisions alone: processor time of a pass with every plugin"
_NOW = 1_800_000_000.0
_ZONES = 10


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench descheduler", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    result = measure(options.nodes, options.pods, options.rounds)
    if options.json:
        print(json.dumps({"benchmark": "descheduler", "machine": describe_machine()} | result))
        return 0
    print(f"{options.nodes} nodes, {options.pods} pods, read in {result['read_seconds']} s of processor time")
    for name, seconds in result["plugins"].items():
        print(f"  {name:<45} {seconds:>7.3f} s  {result['evicted'][name]:>6} pods")
    print(f"a pass: {result['pass_seconds']} s of processor time (best of {options.rounds})")
    return 0


def measure(nodes: int, pods: int, rounds: int) -> dict[str, Any]:
    """Return the processor time of reading a cluster, of a pass, and of each plugin in it."""
    from pybernetes.control_plane.descheduler.cluster import Cluster
    from pybernetes.control_plane.descheduler.descheduling import Eviction, descheduling, simulate
    from pybernetes.control_plane.descheduler.plugin import Outcome
    from pybernetes.control_plane.descheduler.policy import parse
    from pybernetes.control_plane.descheduler.profile import Profile

    started = time.process_time()
    cluster = Cluster()
    for number in range(nodes):
        cluster.set_node(f"node-{number}", cluster.read_node(_node(number)))
    for number in range(pods):
        cluster.set_pod(f"default/pod-{number}", cluster.read_pod(_pod(number, nodes, pods)))
    read = time.process_time() - started
    profiles = [Profile(profile) for profile in parse(POLICY).profiles]
    best: dict[str, Any] = {}
    for _ in range(rounds):
        spent: dict[str, float] = {}
        evicted: dict[str, int] = {}

        def timer(_profile: str, strategy: str, spent: dict[str, float] = spent) -> Any:
            begun = time.process_time()

            def done() -> None:
                spent[strategy] = round(time.process_time() - begun, 3)

            return done

        def evict(eviction: Eviction, evicted: dict[str, int] = evicted) -> Outcome:
            evicted[eviction.strategy] = evicted.get(eviction.strategy, 0) + 1
            return Outcome.EVICTED

        started = time.process_time()
        with cluster.still():
            simulate(descheduling(cluster, profiles, _NOW, timer=timer), evict)
        whole = time.process_time() - started
        if not best or whole < best["pass_seconds"]:
            counts = {name: evicted.get(name, 0) for name in spent}
            best = {"pass_seconds": round(whole, 3), "plugins": spent, "evicted": counts}
    return {"nodes": nodes, "pods": pods, "read_seconds": round(read, 1), **best}


def _node(number: int) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": f"node-{number}", "zone": f"zone-{number % _ZONES}"}
    if number % 2:
        labels["disk"] = "ssd"
    taints = [{"key": "old", "effect": "NoSchedule"}] if number % 500 == 7 else []
    return {
        "metadata": {"name": f"node-{number}", "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
    }


def _pod(number: int, nodes: int, pods: int) -> dict[str, Any]:
    """Return one of the pods of many workloads: most are plain, some are picky, few are where they should not be."""
    workload, kind = number // 30, number // 30 % 10
    # The last tenth of the nodes is nearly empty, and some workloads are crowded onto a few nodes.
    node = number % (nodes * 9 // 10) if number < pods * 99 // 100 else number % nodes
    if workload % 50 in (0, 1, 2):
        node = (workload * 11 + number % 5 * _ZONES) % nodes
    spec: dict[str, Any] = {
        "nodeName": f"node-{node}",
        "priority": workload % 3 * 100,
        "containers": [
            {
                "name": "main",
                "image": f"app-{workload}",
                "resources": {"requests": {"cpu": "200m", "memory": "1Gi"}},
            }
        ],
    }
    labels = {"app": f"app-{workload}"}
    selector = {"matchLabels": labels}
    if kind == 1:
        term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == 2:
        when = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        spec["topologySpreadConstraints"] = [{"topologyKey": "zone", **when}]
    elif kind == 3 and workload % 100 == 3:
        terms: list[Any] = [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
        rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": rule}
    elif kind == 4:
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    owner = {"kind": "ReplicaSet", "name": f"app-{workload}", "uid": f"uid-{workload}", "controller": True}
    failed = number % 1000 == 999
    restarts = 200 if number % 700 == 699 else 0
    created = "2020-01-01T00:00:00Z" if number % 900 == 899 else "2027-01-01T00:00:00Z"
    return {
        "metadata": {
            "name": f"pod-{number}", "namespace": "default", "uid": f"uid-of-{number}", "labels": labels,
            "ownerReferences": [owner], "creationTimestamp": created,
        },
        "spec": spec,
        "status": {
            "phase": "Failed" if failed else "Running", "startTime": created, "qosClass": "Burstable",
            "containerStatuses": [{"restartCount": restarts, "state": {"running": {}}}],
        },
    }  # fmt: skip


_ARGUMENTS: dict[str, dict[str, Any]] = {
    "DefaultEvictor": {"nodeFit": True, "minReplicas": 2, "minPodAge": "1m"},
    "PodLifeTime": {"maxPodLifeTimeSeconds": 86_400 * 30},
    "RemoveFailedPods": {},
    "RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 100},
    "RemovePodsViolatingInterPodAntiAffinity": {},
    "RemovePodsViolatingNodeAffinity": {
        "nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]
    },
    "RemovePodsViolatingNodeTaints": {},
    "RemoveDuplicates": {},
    "RemovePodsViolatingTopologySpreadConstraint": {},
    "LowNodeUtilization": {
        "thresholds": {"cpu": 20, "pods": 20},
        "targetThresholds": {"cpu": 40, "pods": 60},
    },
    "HighNodeUtilization": {"thresholds": {"cpu": 2}},
}
_BALANCE = list(_ARGUMENTS)[7:]
POLICY: dict[str, Any] = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "all",
            "pluginConfig": [{"name": name, "args": arguments} for name, arguments in _ARGUMENTS.items()],
            "plugins": {
                "deschedule": {"enabled": list(_ARGUMENTS)[1:7]},
                "balance": {"enabled": _BALANCE},
            },
        }
    ],
}
