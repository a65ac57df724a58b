"""A runtime that is not containerd: a server that answers as CRI-O 1.34 does, down to what it does not have."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import grpc.aio
from cri_api.v1 import api_pb2 as messages
from cri_api.v1 import api_pb2_grpc as services

from pybernetes.client.client import Client
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from pybernetes.node.kubelet.config import merged
from pybernetes.node.kubelet.kubelet import Kubelet
from pybernetes.node.kubelet.options import Options

CGROUPS = f"/crio-{os.getpid()}"
IMAGE = "quay.io/crio/image:1"


class Crio(services.RuntimeServiceServicer, services.ImageServiceServicer):
    """Sandboxes and containers that are only names, with CRI-O's answers about itself."""

    def __init__(self) -> None:
        self.network, self.opened = False, 0
        self._numbers = count(1)
        self.sandboxes: dict[str, Any] = {}
        self.containers: dict[str, Any] = {}

    async def Version(self, request: Any, context: Any) -> Any:
        return messages.VersionResponse(
            version="0.1.0", runtime_name="cri-o", runtime_version="1.34.1", runtime_api_version="v1"
        )

    async def Status(self, request: Any, context: Any) -> Any:
        missing = "no CNI configuration file in /etc/cni/net.d/. Has your network provider started?"
        reason = {} if self.network else {"reason": "NetworkPluginNotReady",
                                          "message": f"Network plugin returns error: {missing}"}  # fmt: skip
        conditions = [
            messages.RuntimeCondition(type="RuntimeReady", status=True),
            messages.RuntimeCondition(type="NetworkReady", status=self.network, **reason),
        ]
        features = messages.RuntimeHandlerFeatures(recursive_read_only_mounts=True, user_namespaces=True)
        handlers = [messages.RuntimeHandler(name=name, features=features) for name in ("crun", "", "runc")]
        return messages.StatusResponse(
            status=messages.RuntimeStatus(conditions=conditions),
            runtime_handlers=handlers,
            features=messages.RuntimeFeatures(supplemental_groups_policy=True),
        )

    async def RuntimeConfig(self, request: Any, context: Any) -> Any:
        linux = messages.LinuxRuntimeConfiguration(cgroup_driver=messages.SYSTEMD)
        return messages.RuntimeConfigResponse(linux=linux)

    async def GetContainerEvents(self, request: Any, context: Any) -> Any:
        self.opened += 1
        none: list[Any] = []  # its events are off by default, which it does not say: the stream ends
        for event in none:
            yield event

    async def ListPodSandbox(self, request: Any, context: Any) -> Any:
        return messages.ListPodSandboxResponse(
            items=[
                messages.PodSandbox(
                    id=name, metadata=config.metadata, state=messages.SANDBOX_READY, created_at=1,
                    labels=config.labels, annotations=config.annotations,
                )
                for name, config in self.sandboxes.items()
                if dict(request.filter.label_selector).items() <= dict(config.labels).items()
            ]
        )  # fmt: skip

    async def PodSandboxStatus(self, request: Any, context: Any) -> Any:
        config = self.sandboxes[request.pod_sandbox_id]
        status = messages.PodSandboxStatus(
            id=request.pod_sandbox_id, metadata=config.metadata, state=messages.SANDBOX_READY, created_at=1,
            network=messages.PodSandboxNetworkStatus(ip="10.85.0.7"), labels=config.labels, annotations=config.annotations,
        )  # fmt: skip
        return messages.PodSandboxStatusResponse(status=status)

    async def RunPodSandbox(self, request: Any, context: Any) -> Any:
        name = f"{next(self._numbers):064x}"
        self.sandboxes[name] = request.config
        return messages.RunPodSandboxResponse(pod_sandbox_id=name)

    async def CreateContainer(self, request: Any, context: Any) -> Any:
        name = f"{next(self._numbers):064x}"
        self.containers[name] = [request, messages.CONTAINER_CREATED]
        return messages.CreateContainerResponse(container_id=name)

    async def StartContainer(self, request: Any, context: Any) -> Any:
        self.containers[request.container_id][1] = messages.CONTAINER_RUNNING
        return messages.StartContainerResponse()

    async def ListContainers(self, request: Any, context: Any) -> Any:
        return messages.ListContainersResponse(
            containers=[
                messages.Container(
                    id=name, pod_sandbox_id=made.pod_sandbox_id, metadata=made.config.metadata, image=made.config.image,
                    image_ref=made.config.image.image, state=state, created_at=1, labels=made.config.labels,
                    annotations=made.config.annotations,
                )
                for name, (made, state) in self.containers.items()
                if dict(request.filter.label_selector).items() <= dict(made.config.labels).items()
            ]
        )  # fmt: skip

    async def ContainerStatus(self, request: Any, context: Any) -> Any:
        made, state = self.containers[request.container_id]
        status = messages.ContainerStatus(
            id=request.container_id, metadata=made.config.metadata, state=state, created_at=1, started_at=2,
            image=made.config.image, image_ref=made.config.image.image, labels=made.config.labels,
            annotations=made.config.annotations,
        )  # fmt: skip
        return messages.ContainerStatusResponse(status=status)

    async def ImageStatus(self, request: Any, context: Any) -> Any:
        return messages.ImageStatusResponse(image=messages.Image(id="1" * 64, repo_tags=[IMAGE]))

    async def ListImages(self, request: Any, context: Any) -> Any:
        return messages.ListImagesResponse()

    async def ImageFsInfo(self, request: Any, context: Any) -> Any:
        return messages.ImageFsInfoResponse()


@asynccontextmanager
async def kubelet_on(
    crio: Crio, folder: Path, client: Client | None = None, **configuration: object
) -> AsyncIterator[Kubelet]:
    """Run a kubelet at CRI-O's socket, with one static pod."""
    (folder / "manifests").mkdir()
    container = {"name": "c", "image": IMAGE}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "static"},
        "spec": {"containers": [container]},
    }
    (folder / "manifests" / "pod.json").write_text(json.dumps(pod))
    server = grpc.aio.server()
    services.add_RuntimeServiceServicer_to_server(crio, server)
    services.add_ImageServiceServicer_to_server(crio, server)
    server.add_insecure_port(f"unix://{folder}/crio.sock")
    await server.start()
    settings = merged(
        {
            "containerRuntimeEndpoint": f"unix://{folder}/crio.sock",
            "podLogsDir": str(folder / "logs"),
            "staticPodPath": str(folder / "manifests"),
            "cgroupRoot": CGROUPS,
            "port": 0,
            **configuration,
        }
    )
    kubelet = Kubelet(Options("node", root=folder / "root", configuration=settings), client)
    try:
        await kubelet.start()
        yield kubelet
    finally:
        await kubelet.stop()
        PodCgroups(CGROUPS, "systemd").remove_all()
        await server.stop(None)
