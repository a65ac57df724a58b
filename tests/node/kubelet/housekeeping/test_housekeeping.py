"""Housekeeping on a real node: stats, rotation of logs, eviction for disk usage and pressure."""

from __future__ import annotations

import gzip
import json
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from pybernetes.lib import oci
from pybernetes.node.containerd import images
from pybernetes.node.containerd.config import PAUSE_IMAGE
from tests.node.kubelet.real_node import ADDRESS, FOREVER, IMAGE, Node, phase, real_node, shell
from tests.support import end, require_program

pytestmark = [pytest.mark.slow, pytest.mark.e2e]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    require_program("kubectl")
    directory = tmp_path_factory.mktemp("housekeeping")
    config = directory / "config.yaml"
    config.write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
        "readOnlyPort: 10255\ncontainerLogMaxSize: 20Ki\ncontainerLogMaxFiles: 3\ncontainerLogMonitorInterval: 3s\n"
        "evictionPressureTransitionPeriod: 1s\nimageMinimumGCAge: 1ms\n"
    )
    flags = (f"--config={config}", "--housekeeping-interval=500ms", "--runtime-cgroups=/")
    with real_node(directory, *flags) as node:
        yield node


def raw(node: Node, path: str) -> str:
    return node.server.kubectl("get", "--raw", f"/api/v1/nodes/{node.name}/proxy/{path}")


def sample(text: str, name: str, *labels: str) -> float:
    """Return the value of the only sample with these labels."""
    lines = [
        line
        for line in text.splitlines()
        if line.startswith((f"{name}{{", f"{name} ")) and all(label in line for label in labels)
    ]
    assert len(lines) == 1, (name, labels, lines)
    return float(lines[0].rpartition("}")[2].split()[0] if "}" in lines[0] else lines[0].split()[1])


def test_stats(node: Node) -> None:
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

    def measured() -> Any:
        summary = json.loads(raw(node, "stats/summary"))
        pod: Any = next(
            (candidate for candidate in summary["pods"] if candidate["podRef"]["name"] == "busy"), {}
        )
        written = [volume.get("usedBytes", 0) for volume in pod.get("volume", ())]
        return (pod, summary) if pod.get("containers") and written and written[0] >= 2 << 20 else None

    pod, summary = node.until(measured)  # the size of a folder is cached for a while
    (container,) = pod["containers"]
    assert container["cpu"]["usageCoreNanoSeconds"] > 1_000_000
    assert 0 < container["memory"]["workingSetBytes"] < 64 << 20
    assert pod["memory"]["availableBytes"] < 64 << 20 and pod["network"]["name"] == "eth0"
    assert pod["volume"][0]["usedBytes"] >= 2 << 20 and pod["process_stats"]["process_count"] >= 2
    assert pod["ephemeral-storage"]["usedBytes"] >= 2 << 20
    machine = summary["node"]
    assert machine["memory"]["availableBytes"] > 0 and machine["fs"]["capacityBytes"] > 0
    assert machine["rlimit"]["maxpid"] > machine["rlimit"]["curproc"] > 0
    runtime, pods = machine["systemContainers"]
    assert runtime["name"] == "runtime" and runtime["cpu"]["usageCoreNanoSeconds"] > 0
    assert (
        pods["name"] == "pods" and pods["memory"]["availableBytes"] > 0
    )  # the group of all pods has a limit
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
    assert "kubelet statusz" in raw(node, "statusz") and "max-pods:" in raw(node, "flagz")
    took = sample(probes, "prober_probe_duration_seconds_count", labels[0], 'probe_type="Readiness"')
    assert took >= 1
    with urllib.request.urlopen(f"http://{ADDRESS}:10255/pods", timeout=60) as answer:
        assert b"busy" in answer.read()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://{ADDRESS}:10255/runningpods/", timeout=60)
    assert "<pre>" in raw(node, "logs/")
    node.delete("busy")
    node.until(lambda: 'pod="busy"' not in raw(node, "metrics/probes"))


def test_logs_are_rotated(node: Node) -> None:
    # A line is 51 bytes in the file, and 20 KiB are 401 lines of them.
    write = "i=0; while :; do i=$((i+1)); echo line $i; [ $((i % 300)) = 0 ] && sleep 0.3; done"
    node.create("chatty", shell(write))
    node.until_ready("chatty")
    follow = subprocess.Popen(
        ["kubectl", f"--kubeconfig={node.server.kubeconfig}", "logs", "-f", "chatty"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    watchdog = threading.Timer(90, follow.kill)
    watchdog.start()
    try:
        assert follow.stdout is not None
        seen = []
        for line in follow.stdout:
            seen.append(line.strip())
            if line == "line 3000\n":
                break
        assert (
            seen[-1] == "line 3000" and seen == [f"line {number}" for number in range(1, 3001)][-len(seen) :]
        )
    finally:
        watchdog.cancel()
        end(follow)
    (folder,) = (node.directory / "logs").glob("default_chatty_*/c")

    def packed() -> str:
        """Return the content of the older of two rotated files: it may be removed at any moment."""
        files = sorted(file.name for file in folder.iterdir())
        if len(files) != 3 or files[0] != "0.log" or not files[1].endswith(".gz") or files[2].endswith(".gz"):
            return ""
        try:
            with gzip.open(folder / files[1], "rt") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    assert "stdout F line" in node.until(packed).splitlines()[-1]
    node.delete("chatty")


def test_pods_that_use_too_much_disk_are_evicted(node: Node) -> None:
    fill = "dd if=/dev/zero of=/data/f bs=1M count=3 2>/dev/null"
    mounts = [{"name": "data", "mountPath": "/data"}]
    node.create(
        "greedy",
        shell(f"{fill}; {FOREVER}", volumeMounts=mounts),
        volumes=[{"name": "data", "emptyDir": {"sizeLimit": "1Mi"}}],
    )
    node.create(
        "noisy",
        shell(f"dd if=/dev/zero of=/f bs=1M count=3 2>/dev/null; {FOREVER}", volumeMounts=mounts,
              resources={"limits": {"ephemeral-storage": "4Mi"}}),
        volumes=[{"name": "data", "emptyDir": {}}],
    )  # fmt: skip
    node.until_ready("noisy")
    pod = node.until_pod("greedy", phase("Failed"))
    assert pod["status"]["reason"] == "Evicted"
    assert pod["status"]["message"] == 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". '
    assert sample(raw(node, "metrics"), "kubelet_evictions", 'eviction_signal="emptydirfs.limit"') == 1
    assert (node.pod("noisy") or {})["status"]["phase"] == "Running"
    node.server.kubectl("exec", "noisy", "--", "sh", "-c", fill)
    pod = node.until_pod("noisy", phase("Failed"))
    assert (
        pod["status"]["message"]
        == "Pod ephemeral local storage usage exceeds the total limit of containers 4Mi. "
    )
    node.delete("greedy")
    node.delete("noisy")


def test_pressure_on_the_node(node: Node) -> None:
    """The threshold is above what the machine has: images go, then pods one after the other, and nothing starts."""
    unused = "docker.io/library/unused:1"
    archive = oci.archive(unused, oci.layer({"file": oci.File(b"x")}), oci.Process(command=("true",)))
    node.runner.run(images.load(node.places.socket, archive))
    node.create("first", shell(FOREVER), priorityClassName="")
    node.create("static-like", shell(FOREVER), priorityClassName="system-node-critical")
    node.until_ready("first")
    node.until_ready("static-like")
    node.stop_kubelet()
    node.start_kubelet("--eviction-hard=nodefs.available<99.99%", wait=False)
    pod = node.until_pod("first", phase("Failed"))
    assert pod["status"]["reason"] == "Evicted"
    assert pod["status"]["message"].startswith(
        "The node was low on resource: ephemeral-storage. Threshold quantity: "
    )
    (target,) = [
        condition for condition in pod["status"]["conditions"] if condition["type"] == "DisruptionTarget"
    ]
    assert target["status"] == "True" and target["reason"] == "TerminationByKubelet"

    def conditions() -> dict[str, str]:
        listed = node.server.call("GET", f"/api/v1/nodes/{node.name}")[1]["status"]["conditions"]
        return {condition["type"]: condition["status"] for condition in listed}

    node.until(lambda: conditions()["DiskPressure"] == "True")
    assert conditions()["MemoryPressure"] == "False"
    names = node.runner.run(images.names(node.places.socket))
    assert unused not in names and IMAGE in names and PAUSE_IMAGE in names
    node.create("late", shell(FOREVER))
    pod = node.until_pod("late", phase("Failed"))
    assert pod["status"]["reason"] == "Evicted"
    assert pod["status"]["message"] == "Pod was rejected: The node had condition: [DiskPressure]. "
    assert (node.pod("static-like") or {})["status"]["phase"] == "Running"
    node.stop_kubelet()
    node.start_kubelet()
    node.until(lambda: conditions()["DiskPressure"] == "False")
    for name in ("first", "late", "static-like"):
        node.delete(name)
