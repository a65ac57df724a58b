"""What the parts of a kubelet share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pybernetes.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.backoff import Backoff
from pybernetes.node.kubelet.cgroups import Cgroups
from pybernetes.node.kubelet.counts import Counts
from pybernetes.node.kubelet.cri.client import Cri
from pybernetes.node.kubelet.definitions import Settings
from pybernetes.node.kubelet.images import Images
from pybernetes.node.kubelet.objects import Objects
from pybernetes.node.kubelet.probes.manager import Probes
from pybernetes.node.kubelet.turns import Turns
from pybernetes.node.kubelet.volumes import Volumes
from pybernetes.runtime.events import Recorder

Fields = dict[str, Any]


@dataclass(slots=True)
class Context:
    """One node's kubelet. Without a client it runs static pods only."""

    cri: Cri
    clock: Clock
    settings: Settings
    cgroups: Cgroups
    volumes: Volumes
    images: Images
    probes: Probes
    backoff: Backoff
    client: Client | None
    objects: Objects | None
    recorder: Recorder | None
    addresses: tuple[str, ...]
    turns: Turns
    node: Callable[[], Fields]  # the Node object as it is known
    runtime_name: str = "containerd"
    network_ready: Callable[[], str] = lambda: ""  # why pods cannot have a network, if they cannot
    admit: Callable[[Fields], tuple[str, str] | None] = lambda pod: None
    counts: Counts = field(default_factory=Counts)
    others: Callable[[str], list[Fields]] = lambda uid: []  # the node's other pods that count

    def event(
        self, pod: Fields, type_: str, reason: str, message: str, container: Fields | None = None
    ) -> None:
        """Reports an event about a pod, or about one of its containers."""
        if self.recorder is None:
            return
        path = field_path(pod, container["name"]) if container is not None else ""
        self.recorder.event(
            {"kind": "Pod", "apiVersion": "v1", **pod}, type_, reason, message[:1024], field_path=path
        )


def field_path(pod: Fields, name: str) -> str:
    """How events name a container of a pod."""
    for group in ("containers", "initContainers", "ephemeralContainers"):
        if any(each["name"] == name for each in pod["spec"].get(group, ())):
            return f"spec.{group}{{{name}}}"
    return ""
