"""What an image says of itself, as the runtime tells it: its user decides whether a container may start, and never breaks."""

from __future__ import annotations

from pathlib import Path

from cri_api.v1 import api_pb2 as messages
from google.protobuf.message import DecodeError

from fuzz.engine.target import Target
from pybernetes.api.core.pod.image_names import default_pull_policy, parse
from pybernetes.node.kubelet.containers.environment import ConfigError
from pybernetes.node.kubelet.cri.security_context import container_security_context
from pybernetes.tools.local.nodes.images import full_name

_POD = {
    "metadata": {"name": "p", "namespace": "n", "uid": "u"},
    "spec": {"securityContext": {"runAsNonRoot": True}},
}


def run(data: bytes) -> None:
    """Read the bytes as an image's description, and as its name."""
    name = data.decode("utf-8", "replace")
    parse(name)
    default_pull_policy(name)
    full_name(name)
    try:
        image = messages.Image.FromString(data)
    except DecodeError:
        return
    container_security_context(
        _POD, {"name": "c"}, image, seccomp_root=Path("/nowhere"), seccomp_default=False
    )
    assert not (image.HasField("uid") and image.uid.value == 0), "it would run as root"


TARGET = Target(
    run,
    (ConfigError,),
    seeds=(
        messages.Image(
            id="sha256:a", repo_tags=["registry.example/web:1"], uid=messages.Int64Value(value=1000)
        ).SerializeToString(),
        messages.Image(id="sha256:b", username="root").SerializeToString(),
        messages.Image(id="sha256:c", uid=messages.Int64Value(value=0)).SerializeToString(),
        b"registry.example:5000/group/web@sha256:" + b"a" * 64,
    ),
    words=(b"/", b":", b"@sha256:", b"localhost", b"a" * 128, b"\x0a", b"\x22\x02\x08\x00", b"..", b"A"),
)
