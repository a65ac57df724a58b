"""Metrics that rates are made of have the moment at which each pod was read."""

from __future__ import annotations

from typing import Any

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.node.kubelet.stats import resource_metrics


def used(seconds: int) -> dict[str, Any]:
    return {
        "cpu": {"usageCoreNanoSeconds": seconds * 10**9},
        "memory": {"workingSetBytes": 1},
        "swap": {"swapUsageBytes": 0},
    }


def pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "startTime": "2026-01-01T00:00:00Z", **used(3)}
    return {"podRef": {"name": name, "namespace": "n", "uid": name}, "containers": [container], **used(4)}


def test_a_pod_that_was_read_late_says_so() -> None:
    text = Exposition()
    summary = {"node": used(5), "pods": [pod("a"), pod("b")], "moments": {"a": 101.5, "": 103.0}}
    resource_metrics.write(text, summary, 100.0)
    lines = text.render().decode().splitlines()
    for line in (
        'container_cpu_usage_seconds_total{container="c",namespace="n",pod="a"} 3 101500',
        'pod_cpu_usage_seconds_total{namespace="n",pod="b"} 4 100000',  # not known: when the question came
        "node_cpu_usage_seconds_total 5 103000",
    ):
        assert line in lines
