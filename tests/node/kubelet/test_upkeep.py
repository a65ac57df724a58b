"""What a node does besides running pods: figures, logs that grow, images and containers that nobody needs, pressure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.node.kubelet.node import FOREVER, Node, real_node
from tests.support import require_program

pytestmark = [pytest.mark.slow, pytest.mark.e2e]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    require_program("kubectl")
    with real_node(tmp_path_factory.mktemp("upkeep")) as found:
        yield found


def shell(text: str, name: str = "c", **more: object) -> dict[str, object]:
    return {"name": name, "command": ["sh", "-c", text], **more}


def raw(node: Node, path: str) -> str:
    return node.server.kubectl("get", "--raw", f"/api/v1/nodes/{node.name}/proxy/{path}")


def sample(text: str, name: str, *labels: str) -> float:
    """The value of the one sample with these labels."""
    lines = [
        line
        for line in text.splitlines()
        if line.startswith((f"{name}{{", f"{name} ")) and all(each in line for each in labels)
    ]
    assert len(lines) == 1, (name, labels, lines)
    return float(lines[0].rpartition("}")[2].split()[0] if "}" in lines[0] else lines[0].split()[1])


def test_figures(node: Node) -> None:
    fill = "dd if=/dev/zero of=/data/f bs=1M count=2 2>/dev/null; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    node.create(
        "busy",
        shell(
            f"{fill}; touch /data/done; {FOREVER}",
            resources={"limits": {"cpu": "1", "memory": "64Mi"}},
            volumeMounts=[{"name": "data", "mountPath": "/data"}],
            readinessProbe={"exec": {"command": ["cat", "/data/done"]}, "periodSeconds": 1},
        ),
        volumes=[{"name": "data", "emptyDir": {}}],
    )
    node.until_ready("busy")

    def found() -> Any:
        summary = json.loads(raw(node, "stats/summary"))
        return next((each for each in summary["pods"] if each["podRef"]["name"] == "busy"), None), summary

    pod, summary = found()
    (container,) = pod["containers"]
    assert container["cpu"]["usageCoreNanoSeconds"] > 1_000_000
    assert 0 < container["memory"]["workingSetBytes"] < 64 << 20
    assert pod["memory"]["availableBytes"] < 64 << 20 and pod["network"]["name"] == "eth0"
    assert pod["volume"][0]["usedBytes"] >= 2 << 20 and pod["process_stats"]["process_count"] >= 2
    assert pod["ephemeral-storage"]["usedBytes"] >= 2 << 20
    machine = summary["node"]
    assert machine["memory"]["availableBytes"] > 0 and machine["fs"]["capacityBytes"] > 0
    assert machine["rlimit"]["maxpid"] > machine["rlimit"]["curproc"] > 0
    assert machine["systemContainers"][0]["name"] == "pods"
    brief = json.loads(raw(node, "stats/summary?only_cpu_and_memory=true"))
    assert "fs" not in brief["node"] and "volume" not in brief["pods"][0]

    labels = ('container="c"', 'namespace="default"', 'pod="busy"')
    resources = raw(node, "metrics/resource")
    assert sample(resources, "container_cpu_usage_seconds_total", *labels) > 0.001
    assert sample(resources, "pod_memory_working_set_bytes", *labels[1:]) > 0
    assert sample(resources, "resource_scrape_error") == 0
    groups = raw(node, "metrics/cadvisor")
    assert sample(groups, "container_memory_usage_bytes", *labels) > 0
    assert sample(groups, "container_spec_memory_limit_bytes", *labels) == 64 << 20
    assert sample(groups, "container_network_receive_bytes_total", labels[2], 'interface="eth0"') >= 0
    assert sample(groups, "container_cpu_usage_seconds_total", 'id="/"') > 0
    assert sample(groups, "machine_cpu_cores") >= 1
    own = raw(node, "metrics")
    assert sample(own, "kubelet_node_name", 'node="node1"') == 1
    assert sample(own, "kubelet_running_pods") >= 1 and sample(own, "kubelet_started_pods_total") >= 1
    assert sample(own, "kubelet_runtime_operations_total", 'operation_type="run_podsandbox"') >= 1
    probes = raw(node, "metrics/probes")
    assert (
        sample(probes, "prober_probe_total", labels[0], 'result="successful"', 'probe_type="Readiness"') >= 1
    )
    assert (
        "busy" in raw(node, "runningpods/")
        and json.loads(raw(node, "configz"))["kubeletconfig"]["maxPods"] == 110
    )
    node.delete("busy")
