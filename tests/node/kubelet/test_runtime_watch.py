"""A runtime that is there before it can be used, as containerd is for a moment after its start, or that is slow."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import grpc.aio
from cri_api.v1 import api_pb2 as messages
from cri_api.v1 import api_pb2_grpc as services

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from pybernetes.node.kubelet.config import merged
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState
from pybernetes.node.kubelet.kubelet import Kubelet
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.options import Options
from pybernetes.node.kubelet.pod.pod_worker import WorkerPhase
from pybernetes.node.kubelet.runtime_watch import RuntimeWatch
from tests.support import eventually

CGROUPS = f"/starting-{os.getpid()}"


class Starting(services.RuntimeServiceServicer):
    """Answers like a runtime whose CRI part becomes ready a little later."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals

    async def Version(self, request: Any, context: Any) -> Any:
        return messages.VersionResponse(runtime_name="containerd", runtime_version="1")

    async def Status(self, request: Any, context: Any) -> Any:
        if self.refusals > 0:
            self.refusals -= 1
            await context.abort(grpc.StatusCode.UNKNOWN, "server is not initialized yet")
        made = [
            messages.RuntimeCondition(type=name, status=True) for name in ("RuntimeReady", "NetworkReady")
        ]
        return messages.StatusResponse(status=messages.RuntimeStatus(conditions=made))

    async def RuntimeConfig(self, request: Any, context: Any) -> Any:
        linux = messages.LinuxRuntimeConfiguration(cgroup_driver=messages.CGROUPFS)
        return messages.RuntimeConfigResponse(linux=linux)

    async def ListContainers(self, request: Any, context: Any) -> Any:
        return messages.ListContainersResponse()

    async def ListPodSandbox(self, request: Any, context: Any) -> Any:
        return messages.ListPodSandboxResponse()


class Images(services.ImageServiceServicer):
    async def ListImages(self, request: Any, context: Any) -> Any:
        return messages.ListImagesResponse()


async def _silence(request: bytes, context: Any) -> Any:
    await asyncio.Event().wait()
    yield b""


def test_a_runtime_that_answers_before_it_is_ready_is_asked_again(tmp_path: Path) -> None:
    async def check() -> None:
        server = grpc.aio.server()
        services.add_RuntimeServiceServicer_to_server(Starting(5), server)
        services.add_ImageServiceServicer_to_server(Images(), server)
        silent = grpc.unary_stream_rpc_method_handler(
            _silence
        )  # events: the stream opens and nothing happens
        server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(
                    "containerd.services.events.v1.Events", {"Subscribe": silent}
                ),
            )
        )
        server.add_insecure_port(f"unix://{tmp_path}/cri.sock")
        await server.start()
        settings = merged(
            {
                "containerRuntimeEndpoint": f"unix://{tmp_path}/cri.sock",
                "podLogsDir": str(tmp_path / "logs"),
                "cgroupRoot": CGROUPS,
                "cgroupDriver": "systemd",
            }
        )
        kubelet = Kubelet(Options("node", root=tmp_path / "root", configuration=settings), None)
        try:
            await kubelet.start()
            await eventually(lambda: not kubelet.problems())
            assert kubelet.context.cgroups.driver == "cgroupfs"  # as the runtime says
        finally:
            await kubelet.stop()
            PodCgroups(CGROUPS).remove_all()
            await server.stop(None)

    asyncio.run(check())


def test_an_end_is_looked_for_until_the_runtime_has_it_in_its_records() -> None:
    async def check() -> None:
        clock, woken = ManualClock(), []
        run = SimpleNamespace(id="c", state=ContainerState.RUNNING)
        worker: Any = SimpleNamespace(
            phase=WorkerPhase.SYNCING,
            runtime=SimpleNamespace(runs=[run], sandboxes=[]),
            wake=lambda: woken.append(clock.monotonic()),
        )
        cri: Any = None
        watch = RuntimeWatch(cri, clock, {"uid": worker}, asyncio.create_task, lambda: None, KubeletMetrics())
        waking = asyncio.create_task(watch._wake_owner_of("c"))
        await clock.advance(10)
        assert not waking.done() and woken[-1] > 4
        run.state = ContainerState.EXITED
        await clock.advance(30)
        assert waking.done() and woken[-1] < 10

    asyncio.run(check())
