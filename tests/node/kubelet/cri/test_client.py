"""A runtime that is not containerd."""

from __future__ import annotations

import asyncio
from pathlib import Path

from cri_api.v1 import api_pb2 as messages

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
