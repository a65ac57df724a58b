"""Answers of the container runtime: any message that protobuf reads is understood or gives a plain refusal."""

from __future__ import annotations

from cri_api.v1 import api_pb2 as messages
from google.protobuf.message import DecodeError

from fuzz.engine.target import Target
from pybernetes.node.kubelet.cri import container_events, pod_runtime_reader
from pybernetes.node.kubelet.cri.containerd import TYPES


def run(data: bytes) -> None:
    """Read the bytes as a container's status, a sandbox's status and an event."""
    for kind, read in _READERS:
        try:
            message = kind.FromString(data)
        except DecodeError:
            continue
        try:
            read(message)
        except DecodeError:
            pass


_READERS = (
    (messages.ContainerStatus, lambda message: pod_runtime_reader.run_of(message, "sandbox")),
    (messages.PodSandboxStatus, lambda message: pod_runtime_reader._sandbox_of("sandbox", message)),
    (TYPES["Envelope"], container_events.concerned),
)
_STATUS = messages.ContainerStatus(
    id="c", state=messages.CONTAINER_EXITED, created_at=10**18, started_at=10**18, finished_at=10**18, exit_code=1, reason="Error",
    labels={"io.kubernetes.container.name": "web"}, annotations={"io.kubernetes.container.restartCount": "3"}, log_path="/nowhere/0.log",
    mounts=[messages.Mount(container_path="/dev/termination-log", host_path="/nowhere")],
)  # fmt: skip
_SANDBOX = messages.PodSandboxStatus(
    id="s",
    created_at=10**18,
    network=messages.PodSandboxNetworkStatus(ip="10.0.0.1", additional_ips=[messages.PodIP(ip="fd00::1")]),
)
_EVENT = TYPES["Envelope"](topic="/tasks/exit")
TARGET = Target(
    run,
    seeds=(_STATUS.SerializeToString(), _SANDBOX.SerializeToString(), _EVENT.SerializeToString()),
    words=(
        b"\x0a",
        b"\x12",
        b"\x80\x01",
        b"\xff\xff\xff\xff\x0f",
        b"io.kubernetes.container.restartCount",
        b"\xd9\xa0",
    ),
)
