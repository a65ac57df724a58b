"""A runtime that is not containerd."""

from __future__ import annotations

import asyncio
from pathlib import Path

from cri_api.v1 import api_pb2 as messages

from tests.lib.span_collector import attributes, collecting
from tests.node.kubelet.crio import Crio, kubelet_on
from tests.support import eventually


def test_a_pod_on_cri_o(tmp_path: Path) -> None:
    async def check() -> None:
        crio = Crio()
        async with kubelet_on(crio, tmp_path) as kubelet:
            assert kubelet.problems() == [
                "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:"
                "Network plugin returns error: no CNI configuration file in /etc/cni/net.d/. Has your network provider started?"
            ]
            crio.network = True
            await eventually(lambda: not kubelet.problems())
            assert kubelet.context.cgroups.driver == "systemd"  # as CRI-O says
            assert sorted(kubelet.runtime.features.handlers) == ["", "crun", "runc"]
            await eventually(
                lambda: [state for _, state in crio.containers.values()] == [messages.CONTAINER_RUNNING]
            )
            (config,) = crio.sandboxes.values()
            assert config.linux.cgroup_parent.endswith(".slice")
            (worker,) = kubelet.workers.values()
            await eventually(lambda: (worker.statuses.get(worker.uid) or {}).get("phase") == "Running")
            status = worker.statuses.get(worker.uid) or {}
            assert status["podIP"] == "10.85.0.7"
            assert status["containerStatuses"][0]["containerID"].startswith("cri-o://")
            assert crio.opened == 1  # it has no events, so it is not asked for them again and again

    asyncio.run(check())


def test_spans_of_pods_and_calls(tmp_path: Path) -> None:
    async def check(endpoint: str) -> None:
        crio = Crio()
        crio.network = True
        spans = {"endpoint": endpoint, "samplingRatePerMillion": 1_000_000}
        async with kubelet_on(crio, tmp_path, tracing=spans) as kubelet:
            await eventually(
                lambda: [state for _, state in crio.containers.values()] == [messages.CONTAINER_RUNNING]
            )
            (tmp_path / "manifests" / "pod.json").unlink()
            # This runtime cannot stop containers.
            await eventually(lambda: kubelet.metrics.counters.get("kubelet_runtime_operations_errors_total"))
            # What is not sent yet has little time when the kubelet ends.
            await eventually(lambda: collector.named("syncTerminatingPod"))

    with collecting() as (collector, endpoint):
        asyncio.run(check(endpoint))
    assert (
        collector.resources[0]["service.name"] == "kubelet" and collector.resources[0]["host.name"] == "node"
    )
    first = collector.named("syncPod")[0]
    said = attributes(first)
    assert said.pop("k8s.pod.uid")
    assert said == {
        "k8s.pod": "default/static-node", "k8s.pod.name": "static-node", "k8s.namespace.name": "default",
        "k8s.pod.update_type": "create",
    }  # fmt: skip
    (call,) = collector.named("runtime.v1.RuntimeService/RunPodSandbox")
    assert call.trace_id == first.trace_id
    assert attributes(call) == {
        "rpc.system.name": "grpc", "rpc.method": "runtime.v1.RuntimeService/RunPodSandbox",
        "rpc.response.status_code": "OK",
    }  # fmt: skip
    stop, end = (
        collector.named("runtime.v1.RuntimeService/StopContainer")[0],
        collector.named("syncTerminatingPod")[0],
    )
    assert attributes(stop)["rpc.response.status_code"] == "UNIMPLEMENTED" and stop.trace_id == end.trace_id
    assert (first.status.code, end.status.code) == (0, 2)  # the second failed
