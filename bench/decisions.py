"""pyb bench decisions: what a scheduling decision costs, and how that grows with the nodes; no server is involved."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from bench.harness.machine import describe_machine
from bench.harness.workloads import WORKLOADS, node

SUMMARY = "the scheduler's decisions alone: processor time per pod, with more and more nodes"
_NODES = (100, 500, 1000, 2000, 5000)


def main(argv: list[str]) -> int:
    """Measure and print a chart, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench decisions", description=__doc__)
    parser.add_argument(
        "--nodes", type=int, action="append", help="how many nodes; may be given several times"
    )
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--workload", choices=tuple(WORKLOADS), default="basic")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    results = {
        nodes: microseconds(options.workload, nodes, options.pods) for nodes in options.nodes or _NODES
    }
    if options.json:
        result = {"benchmark": "decisions", "workload": options.workload, "machine": describe_machine()}
        print(json.dumps(result | {"microseconds_per_pod": results}))
        return 0
    longest = max(results.values())
    for nodes, cost in results.items():
        print(f"{nodes:>6} nodes  {'█' * max(1, round(40 * cost / longest))} {cost:.0f} µs")
    return 0


def microseconds(name: str, nodes: int, pods: int) -> float:
    """Return the processor time of a decision, in microseconds, on average over all pods of a workload."""
    from pybernetes.scheduling.config import Configuration
    from pybernetes.scheduling.cycle import Cycle
    from pybernetes.scheduling.handle import Handle
    from pybernetes.scheduling.listers import Listers
    from pybernetes.scheduling.nodes import NodeReader
    from pybernetes.scheduling.pods import PodReader
    from pybernetes.scheduling.profile import Profile
    from pybernetes.scheduling.resource_requests import Resources
    from pybernetes.scheduling.snapshot import Snapshot

    workload, resources, listers = WORKLOADS[name](nodes, pods), Resources(), Listers()
    snapshot, pod_reader, node_reader = Snapshot(resources), PodReader(resources), NodeReader(resources)
    handle = Handle(snapshot, listers)
    cycle = Cycle(handle, Profile(Configuration().profiles[0], handle))
    for number in range(nodes):
        new = _stored(node(number, workload.zones), number)
        new["spec"] = {}
        snapshot.set_node(node_reader.read(new))
    waiting = [pod_reader.read(_stored(workload.pod(number), number)) for number in range(pods)]
    begin = time.process_time()
    for pod in waiting:
        decision = cycle.decide(pod)
        if decision.node:
            snapshot.add_pod(pod.placed(decision.node))
    return round((time.process_time() - begin) / pods * 1e6, 1)


def _stored(obj: dict[str, Any], number: int) -> dict[str, Any]:
    """Return an object with what a server adds."""
    obj["metadata"] |= {"uid": f"{obj['metadata']['name']}-{number}", "resourceVersion": "1"}
    obj.setdefault("spec", {}).setdefault("schedulerName", "default-scheduler")
    return obj
