"""Calls to a container runtime over CRI v1."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from cri_api.v1 import api_pb2 as messages

from pybernetes.lib.grpc.channel import Channel, RpcError
from pybernetes.lib.grpc.stub import Stub
from pybernetes.lib.tracing import Spans
from pybernetes.node.kubelet.cri import exec_answer
from pybernetes.node.kubelet.cri.exec_answer import ExecAnswer
from pybernetes.node.kubelet.cri.messages import Message

_SECONDS = 120.0
_PULL_SECONDS = 3600.0
_RECEIVE_LIMIT = 16 << 20
# Called with the name of an operation, the seconds that it took and whether it failed.
Observer = Callable[[str, float, bool], None]


def operation(request: str) -> str:
    """Return the operation's name in metrics from the name of its request: RunPodSandboxRequest is run_podsandbox."""
    name = request.removesuffix("Request").replace("PodSandbox", "Podsandbox")
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


async def _traced(spans: Spans, method: Any, request: Message, timeout: float) -> Any:
    """Call the runtime in a span that it is told of, so that its own are within it."""
    name = method.path.lstrip("/")
    with spans.part(name, {"rpc.system.name": "grpc", "rpc.method": name}, client=True) as span:
        code = "OK"
        try:
            return await method(request, timeout=timeout, metadata=tuple(spans.headers().items()))
        except RpcError as error:
            code = error.code.name
            raise
        finally:
            if span is not None:
                span.set_attribute("rpc.response.status_code", code)


class CriError(Exception):
    """The runtime refused or failed; ``code`` is gRPC's name of the reason, such as NOT_FOUND."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    @property
    def away(self) -> bool:
        """Whether the runtime itself is unreachable."""
        return self.code == "UNAVAILABLE"


class CriClient:
    """A container runtime behind a socket (``unix:///run/containerd/containerd.sock``)."""

    def __init__(
        self,
        endpoint: str,
        image_endpoint: str = "",
        observe: Observer = lambda operation, seconds, failed: None,
        seconds: float = _SECONDS,
        spans: Spans | None = None,
    ) -> None:
        self.endpoint = endpoint if "://" in endpoint else f"unix://{endpoint}"
        self.channel = Channel(self.endpoint, most_bytes=_RECEIVE_LIMIT)
        self._image_channel = (
            self.channel
            if not image_endpoint or image_endpoint == endpoint
            else Channel(image_endpoint, most_bytes=_RECEIVE_LIMIT)
        )
        services = messages.DESCRIPTOR.services_by_name
        self._runtime = Stub(self.channel, services["RuntimeService"])
        self._images = Stub(self._image_channel, services["ImageService"])
        self._observe, self._spans = observe, spans
        self._seconds = seconds  # until a call without a time of its own is given up

    async def close(self) -> None:
        """Close the connection."""
        await self.channel.close()
        if self._image_channel is not self.channel:
            await self._image_channel.close()

    async def _call(self, method: Any, request: Message, seconds: float | None = None) -> Any:
        began, failed = time.monotonic(), True
        timeout = self._seconds if seconds is None else seconds
        try:
            if self._spans is None:
                answer = await method(request, timeout=timeout)
            else:
                answer = await _traced(self._spans, method, request, timeout)
            failed = False
            return answer
        except RpcError as error:
            raise CriError(error.code.name, error.details or error.code.name) from None
        finally:
            self._observe(operation(type(request).__name__), time.monotonic() - began, failed)

    # -- the runtime -------------------------------------------------------------------------------------

    async def version(self) -> Message:
        """Return the name and version of the runtime."""
        return await self._call(self._runtime.Version, messages.VersionRequest(version="0.1.0"), 10)

    async def status(self, verbose: bool = False) -> Message:
        """Return whether the runtime and its network are ready."""
        return await self._call(self._runtime.Status, messages.StatusRequest(verbose=verbose), 10)

    async def runtime_config(self) -> Message:
        """Return how the runtime is configured, such as its cgroup driver."""
        return await self._call(self._runtime.RuntimeConfig, messages.RuntimeConfigRequest(), 10)

    def container_events(self) -> Any:
        """Return the stream of container events, where the runtime has one."""
        return self._runtime.GetContainerEvents(messages.GetEventsRequest())

    # -- sandboxes ---------------------------------------------------------------------------------------

    async def run_pod_sandbox(self, config: Message, handler: str = "") -> str:
        """Create and start a sandbox; return its id."""
        request = messages.RunPodSandboxRequest(config=config, runtime_handler=handler)
        return (await self._call(self._runtime.RunPodSandbox, request, 240)).pod_sandbox_id

    async def stop_pod_sandbox(self, sandbox: str) -> None:
        """Stop a sandbox with everything in it and release its network."""
        await self._call(self._runtime.StopPodSandbox, messages.StopPodSandboxRequest(pod_sandbox_id=sandbox))

    async def remove_pod_sandbox(self, sandbox: str) -> None:
        """Remove a sandbox and its containers."""
        await self._call(
            self._runtime.RemovePodSandbox, messages.RemovePodSandboxRequest(pod_sandbox_id=sandbox)
        )

    async def pod_sandbox_status(self, sandbox: str) -> Message:
        """Return the state of a sandbox, including its addresses."""
        request = messages.PodSandboxStatusRequest(pod_sandbox_id=sandbox)
        return (await self._call(self._runtime.PodSandboxStatus, request)).status

    async def list_pod_sandboxes(self, labels: Mapping[str, str] | None = None) -> list[Message]:
        """Return the sandboxes that have these labels."""
        selected = messages.PodSandboxFilter(label_selector=dict(labels or {}))
        return list(
            (
                await self._call(
                    self._runtime.ListPodSandbox, messages.ListPodSandboxRequest(filter=selected)
                )
            ).items
        )

    # -- containers --------------------------------------------------------------------------------------

    async def create_container(self, sandbox: str, config: Message, sandbox_config: Message) -> str:
        """Create a container in a sandbox; return its id."""
        request = messages.CreateContainerRequest(
            pod_sandbox_id=sandbox, config=config, sandbox_config=sandbox_config
        )
        return (await self._call(self._runtime.CreateContainer, request)).container_id

    async def start_container(self, container: str) -> None:
        """Start a created container."""
        await self._call(self._runtime.StartContainer, messages.StartContainerRequest(container_id=container))

    async def stop_container(self, container: str, grace: float) -> None:
        """Stop a container: with its stop signal, and after the grace period with SIGKILL."""
        request = messages.StopContainerRequest(container_id=container, timeout=int(grace))
        await self._call(self._runtime.StopContainer, request, grace + self._seconds)

    async def remove_container(self, container: str) -> None:
        """Remove a container."""
        await self._call(
            self._runtime.RemoveContainer, messages.RemoveContainerRequest(container_id=container)
        )

    async def list_containers(self, labels: Mapping[str, str] | None = None) -> list[Message]:
        """Return the containers that have these labels."""
        selected = messages.ContainerFilter(label_selector=dict(labels or {}))
        return list(
            (
                await self._call(
                    self._runtime.ListContainers, messages.ListContainersRequest(filter=selected)
                )
            ).containers
        )

    async def container_status(self, container: str) -> Message:
        """Return the state of a container."""
        request = messages.ContainerStatusRequest(container_id=container)
        return (await self._call(self._runtime.ContainerStatus, request)).status

    async def update_container_resources(self, container: str, resources: Message) -> None:
        """Change the resources of a running container."""
        request = messages.UpdateContainerResourcesRequest(container_id=container, linux=resources)
        await self._call(self._runtime.UpdateContainerResources, request)

    async def reopen_container_log(self, container: str) -> None:
        """Make the runtime continue in a new log file."""
        request = messages.ReopenContainerLogRequest(container_id=container)
        await self._call(self._runtime.ReopenContainerLog, request)

    # -- processes and streams ---------------------------------------------------------------------------

    async def exec_sync(
        self, container: str, command: Iterable[str], seconds: float = 0, limit: int | None = None
    ) -> ExecAnswer:
        """Run a command to its end; return exit code, output and error output, of each no more than a limit."""
        request = messages.ExecSyncRequest(container_id=container, cmd=list(command), timeout=int(seconds))
        patience = seconds + 10 if seconds else _PULL_SECONDS
        # Without the parser of the other calls, which would copy what nobody reads.
        method = self.channel.unary_unary(
            "/runtime.v1.RuntimeService/ExecSync",
            request_serializer=messages.ExecSyncRequest.SerializeToString,
            response_deserializer=lambda data: exec_answer.parse(data, limit),
        )
        return await self._call(method, request, patience)

    async def exec(
        self, container: str, command: Iterable[str], *, stdin: bool, stdout: bool, stderr: bool, tty: bool
    ) -> str:
        """Start a command; return the URL of its streams."""
        request = messages.ExecRequest(
            container_id=container, cmd=list(command), stdin=stdin, stdout=stdout, stderr=stderr, tty=tty
        )
        return (await self._call(self._runtime.Exec, request)).url

    async def attach(self, container: str, *, stdin: bool, stdout: bool, stderr: bool, tty: bool) -> str:
        """Return the URL of a container's own streams."""
        request = messages.AttachRequest(
            container_id=container, stdin=stdin, stdout=stdout, stderr=stderr, tty=tty
        )
        return (await self._call(self._runtime.Attach, request)).url

    async def port_forward(self, sandbox: str, ports: Iterable[int] = ()) -> str:
        """Return the URL for connections into a sandbox."""
        request = messages.PortForwardRequest(pod_sandbox_id=sandbox, port=list(ports))
        return (await self._call(self._runtime.PortForward, request)).url

    # -- stats -------------------------------------------------------------------------------------------

    async def list_container_stats(self) -> list[Message]:
        """Return what all containers use."""
        return list(
            (await self._call(self._runtime.ListContainerStats, messages.ListContainerStatsRequest())).stats
        )

    # -- images ------------------------------------------------------------------------------------------

    async def pull_image(self, image: str, auth: Mapping[str, str] | None, sandbox_config: Message) -> str:
        """Pull an image; return its reference."""
        request = messages.PullImageRequest(
            image=messages.ImageSpec(image=image), auth=messages.AuthConfig(**auth) if auth else None,
            sandbox_config=sandbox_config,
        )  # fmt: skip
        return (await self._call(self._images.PullImage, request, _PULL_SECONDS)).image_ref

    async def list_images(self) -> list[Message]:
        """Return every image of the runtime."""
        return list((await self._call(self._images.ListImages, messages.ListImagesRequest())).images)

    async def image_status(self, image: str) -> Message | None:
        """Return an image, or None if it is not there."""
        request = messages.ImageStatusRequest(image=messages.ImageSpec(image=image))
        answer = await self._call(self._images.ImageStatus, request)
        return answer.image if answer.HasField("image") else None

    async def remove_image(self, image: str) -> None:
        """Remove an image."""
        request = messages.RemoveImageRequest(image=messages.ImageSpec(image=image))
        await self._call(self._images.RemoveImage, request)

    async def image_fs_info(self) -> Message:
        """Return the filesystems that images are kept on."""
        return await self._call(self._images.ImageFsInfo, messages.ImageFsInfoRequest())


async def ignore_missing(call: Awaitable[None]) -> None:
    """Wait for a call; what it is about may be gone already."""
    try:
        await call
    except CriError as error:
        if error.code != "NOT_FOUND":
            raise
