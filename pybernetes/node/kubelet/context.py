"""What the rooms of a kubelet share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.api.core.pod.container_path import container_path
from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.lib.tracing import Spans
from pybernetes.node.kubelet.backoff import Backoff
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from pybernetes.node.kubelet.cri.client import CriClient
from pybernetes.node.kubelet.cri.cni_results import CniResults
from pybernetes.node.kubelet.cri.runtime_features import RuntimeFeatures
from pybernetes.node.kubelet.cri.start_limiter import StartLimiter
from pybernetes.node.kubelet.images.image_puller import ImagePuller
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.node_settings import NodeSettings
from pybernetes.node.kubelet.object_cache import ObjectCache
from pybernetes.node.kubelet.pod.start_steps import StartSteps
from pybernetes.node.kubelet.pod.user_namespaces import UserNamespaces
from pybernetes.node.kubelet.probes.probe_manager import ProbeManager
from pybernetes.node.kubelet.volumes.volume_manager import VolumeManager
from pybernetes.runtime.events import Recorder


@dataclass(slots=True)
class Context:
    """What every room of the kubelet may use. Without a client the kubelet runs static pods only."""

    cri: CriClient
    clock: Clock
    settings: NodeSettings
    cgroups: PodCgroups
    volumes: VolumeManager
    images: ImagePuller
    probes: ProbeManager
    backoff: Backoff
    client: Client | None
    objects: ObjectCache | None
    recorder: Recorder | None
    addresses: tuple[str, ...]
    start_limiter: StartLimiter
    metrics: KubeletMetrics
    user_namespaces: UserNamespaces
    node: Callable[[], Object]  # the Node object as it is known
    starts: StartSteps
    networks: CniResults = field(default_factory=CniResults)
    runtime_name: str = "containerd"
    features: Callable[[], RuntimeFeatures] = RuntimeFeatures  # what the runtime can do
    network_problem: Callable[[], str] = lambda: ""  # why pods cannot have a network, if they cannot
    admit: Callable[[Object], tuple[str, str] | None] = lambda pod: None
    spans: Spans = field(default_factory=Spans)
    other_pods: Callable[[str], list[Object]] = lambda uid: []  # the node's other pods that count

    def event(
        self,
        pod: Object,
        type_: str,
        reason: str,
        message: str,
        container: Object | None = None,
        annotations: dict[str, str] | None = None,
    ) -> None:
        """Record an event about a pod, or about one of its containers."""
        if self.recorder is None:
            return
        path = container_path(pod, container["name"]) if container is not None else ""
        about = {"kind": "Pod", "apiVersion": "v1", **pod}
        told = self.starts.annotations(pod["metadata"]["uid"])
        if told:
            annotations = {**told, **(annotations or {})}
        self.recorder.event(about, type_, reason, message[:1024], field_path=path, annotations=annotations)

    def node_event(self, reason: str, message: str) -> None:
        """Record a warning about the node."""
        if self.recorder is not None:
            name = self.node()["metadata"]["name"]
            # Events about nodes have the name in place of the uid, as upstream's.
            about = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": name}}
            self.recorder.warning(about, reason, message[:1024])
