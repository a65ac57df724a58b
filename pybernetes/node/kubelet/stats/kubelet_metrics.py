"""/metrics: the kubelet itself, its pods, their volumes and logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.api import feature_gates, version
from pybernetes.api.resource import Object
from pybernetes.client.request_metrics import REQUESTS
from pybernetes.lib.metrics.exposition import Exposition, Labels
from pybernetes.node.kubelet.metrics import KubeletMetrics

_VOLUMES = (
    ("capacity_bytes", "Capacity in bytes of the volume", "capacityBytes"),
    ("available_bytes", "Number of available bytes in the volume", "availableBytes"),
    ("used_bytes", "Number of used bytes in the volume", "usedBytes"),
    ("inodes", "Maximum number of inodes in the volume", "inodes"),
    ("inodes_free", "Number of free inodes in the volume", "inodesFree"),
    ("inodes_used", "Number of used inodes in the volume", "inodesUsed"),
)


def write(
    text: Exposition,
    node: str,
    gauges: Iterable[tuple[str, str, Iterable[tuple[Labels, float]]]],
    metrics: KubeletMetrics,
    summary: Object,
    gates: Mapping[str, bool],
) -> None:
    """Write the metrics; ``gauges`` are name, help and samples."""
    text.family("kubelet_node_name", "gauge", "[ALPHA] The node's name. The count is always 1.")
    text.sample("kubelet_node_name", (("node", node),), 1)
    for name, help_, samples in gauges:
        text.family(name, "gauge", f"[ALPHA] {help_}")
        for labels, value in samples:
            text.sample(name, labels, value)
    metrics.render(text)
    _volumes(text, summary)
    _logs(text, summary)
    version.render(text)
    feature_gates.render(gates, text)
    REQUESTS.write(text)
    text.process()


def _volumes(text: Exposition, summary: Object) -> None:
    claims: dict[tuple[str, str], Object] = {}  # several pods may share one
    for pod in summary["pods"]:
        for volume in pod.get("volume", ()):
            if "pvcRef" in volume:
                claims[volume["pvcRef"]["namespace"], volume["pvcRef"]["name"]] = volume
    if not claims:
        return
    for name, help_, key in _VOLUMES:
        text.family(f"kubelet_volume_stats_{name}", "gauge", f"[ALPHA] {help_}")
        for (namespace, claim), volume in claims.items():
            labels = (("namespace", namespace), ("persistentvolumeclaim", claim))
            text.sample(f"kubelet_volume_stats_{name}", labels, volume[key])


def _logs(text: Exposition, summary: Object) -> None:
    name = "kubelet_container_log_filesystem_used_bytes"
    text.family(name, "gauge", "[ALPHA] Bytes used by the container's logs on the filesystem.")
    for pod in summary["pods"]:
        reference = pod["podRef"]
        for container in pod["containers"]:
            if "logs" in container:
                labels = (("container", container["name"]), ("namespace", reference["namespace"]),
                          ("pod", reference["name"]), ("uid", reference["uid"]))  # fmt: skip
                text.sample(name, labels, container["logs"]["usedBytes"])
