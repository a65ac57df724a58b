"""pyb bench autoscaler: what a decision of the autoscaler costs, and how long a pod waits for a new node."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.harness.machine import describe_machine

SUMMARY = "autoscaler: processor time of a decision, and seconds from a pending pod to a ready node"
_KIND = "apiVersion: local.pybernetes.dev/v1alpha1\nkind: Cluster\n"

Object = dict[str, Any]


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench autoscaler", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=30)
    parser.add_argument("--pods", type=int, default=1000, help="that find no room")
    parser.add_argument("--shapes", type=int, default=10, help="of these pods")
    parser.add_argument("--hollow", action="store_true", help="also time a hollow node in a local cluster")
    parser.add_argument(
        "--real", action="store_true", help="also time a real node in a local cluster (needs root)"
    )
    parser.add_argument(
        "--large", action="store_true", help="also time one in a cluster of --nodes and --groups"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    results = {"decision": decision(options.nodes, options.groups, options.pods, options.shapes)}
    for kind in ("hollow", "real"):
        if getattr(options, kind):
            results |= node(kind == "hollow")
    if options.large:
        results |= node(True, options.nodes, options.groups)
    if options.json:
        print(json.dumps({"benchmark": "autoscaler", "machine": describe_machine(), "seconds": results}))
        return 0
    for name, seconds in results.items():
        print(f"{name:<62} {seconds:7.3f} s")
    return 0


def _node(number: int, group: str) -> Object:
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    name = f"{group}-{number}"
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "group": group}},
        "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _pod(name: str, shape: int, on: str = "") -> Object:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"app-{shape}", "controller": True}
    requests = {"cpu": f"{100 * (shape + 1)}m", "memory": f"{256 * (shape + 1)}Mi"}
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": {"app": f"app-{shape}"}, "ownerReferences": [owner]},
        "spec": {"nodeName": on, "schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": requests}}]},
        "status": {} if on else {"conditions": [condition]},
    }  # fmt: skip


def decision(nodes: int, groups: int, pods: int, shapes: int) -> float:
    """Return the processor time from pods without room to the choice of a group, the middle of eleven."""
    from pybernetes.control_plane.autoscaler.cluster import node_templates
    from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
    from pybernetes.control_plane.autoscaler.cluster.simulation import Simulation
    from pybernetes.control_plane.autoscaler.provider import NodeGroup
    from pybernetes.control_plane.autoscaler.scale_up import estimator, expander, scale_up
    from pybernetes.control_plane.autoscaler.scale_up.expander import Context
    from pybernetes.control_plane.autoscaler.scale_up.scale_up import Candidate, Limits, Size

    cluster = Cluster()
    for number in range(nodes):
        group = f"group-{number % groups}"
        cluster.set_node(f"{group}-{number}", cluster.read_node(_node(number, group)))
        for filling in range(8):
            obj = _pod(f"filling-{number}-{filling}", 9, f"{group}-{number}")
            cluster.set_pod(f"default/filling-{number}-{filling}", cluster.read_pod(obj))
    for number in range(pods):
        cluster.set_pod(f"default/pod-{number}", cluster.read_pod(_pod(f"pod-{number}", number % shapes)))
    candidates = []
    for number in range(groups):
        name = f"group-{number}"
        made = node_templates.from_object(cluster, _node(0, name), name)
        candidates.append(
            Candidate(NodeGroup(name, 0, 1000), 0, node_templates.template(cluster, name, made, ()))
        )
    chain = expander.chain("least-waste")

    async def decide() -> int:
        waiting = estimator.equivalence_groups(record.pod for record in cluster.pending.values())
        with Simulation(cluster) as simulation:
            left = [rest for group in waiting if (rest := group[simulation.settle(group) :])]
        size = Size(nodes, 0, 0)
        findings = scale_up.find(cluster, left, candidates, size, Limits())
        option = await expander.choose(chain, findings.options, Context(None, chance=random.Random(0)))  # type: ignore[arg-type]
        assert option is not None
        return scale_up.expansions(option, candidates, findings, size, Limits(), None)[0].new

    times = []
    for _ in range(11):
        began = time.process_time()
        asyncio.run(decide())
        times.append(time.process_time() - began)
    return statistics.median(times)


def node(hollow: bool, nodes: int = 0, groups: int = 1) -> dict[str, float]:
    """Return the seconds from a pod that finds no room to the decision, and to a node that is ready."""
    from pybernetes.tools.local import paths
    from pybernetes.tools.local.admin_client import AdminClient
    from pybernetes.tools.local.nodes import node_groups

    kind, name = "hollow" if hollow else "real", f"bench-autoscaler-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(PYBERNETES_HOME=folder, KUBECONFIG=f"{folder}/kubeconfig")
        file = Path(folder) / "cluster.yaml"
        count = f"hollow: {nodes}\n" if nodes else "" if hollow else "nodes: 1\n"
        fields = f"maximum: 40, hollow: {str(hollow).lower()}, labels: {{room: yes-please}}"
        lines = "".join(f"- {{name: g{number}, {fields}}}\n" for number in range(groups))
        file.write_text(f"{_KIND}autoscaler: true\n{count}nodeGroups:\n{lines}")
        pyb = [sys.executable, "-m", "pybernetes.cmd.main"]
        try:
            subprocess.run(
                [*pyb, "up", name, "--config", str(file), "--wait"], check=True, stdout=subprocess.DEVNULL
            )
            cluster = paths.Cluster(name)
            api = AdminClient(cluster)
            path = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
            _until(lambda: "Running" in _text(api, path))
            body = _pod("one", 0)
            body["spec"] = {
                "nodeSelector": {"room": "yes-please"},
                "containers": [{"name": "c", "image": "i"}],
            }
            del body["metadata"]["uid"], body["metadata"]["ownerReferences"], body["status"]
            _until(lambda: "default" in _text(api, "/api/v1/namespaces/default/serviceaccounts/default"))
            began = time.monotonic()
            api.call("POST", "/api/v1/namespaces/default/pods", body=body)
            _until(lambda: any(state.nodes for state in node_groups.states(cluster)))
            decided = time.monotonic() - began
            made = next(name for state in node_groups.states(cluster) for name in state.nodes)
            _until(lambda: made in api.ready_nodes())
            seconds = time.monotonic() - began
            about = f"{kind}, {nodes} nodes and {groups} groups" if nodes else kind
            return {f"pod to decision ({about})": decided, f"pod to ready node ({about})": seconds}
        finally:
            subprocess.run([*pyb, "delete", name], check=True, stdout=subprocess.DEVNULL)


def _text(api: Any, path: str) -> str:
    from pybernetes.tools.local.admin_client import ApiError

    try:
        return json.dumps(api.call("GET", path))
    except ApiError:
        return ""


def _until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("pyb bench autoscaler: waited for a minute in vain")
        time.sleep(0.01)
