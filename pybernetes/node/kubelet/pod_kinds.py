"""What the kubelet tells of pods: how they are called, and which are static, mirror or critical ones."""

from __future__ import annotations

from pybernetes.api.core.pod.qos_class import qos_class
from pybernetes.api.resource import Object

# The annotations that tell static pods and their mirrors from other pods.
SOURCE = "kubernetes.io/config.source"
HASH = "kubernetes.io/config.hash"
SEEN = "kubernetes.io/config.seen"
MIRROR = "kubernetes.io/config.mirror"
_CRITICAL_PRIORITY = 2_000_000_000


def shown(pod: Object) -> str:
    """Return how messages name a pod: its name, its namespace and its uid."""
    meta = pod["metadata"]
    return f"{meta['name']}_{meta['namespace']}({meta['uid']})"


def qos_of(pod: Object) -> str:
    """Return the QoS class of a pod, as its status has it or as follows from its spec."""
    return pod.get("status", {}).get("qosClass") or qos_class(pod["spec"])


def is_static(pod: Object) -> bool:
    """Return whether the pod comes from a source other than the API server."""
    source = (pod["metadata"].get("annotations") or {}).get(SOURCE)
    return source is not None and source != "api"


def is_mirror(pod: Object) -> bool:
    """Return whether a pod of the API stands for a static one."""
    return MIRROR in (pod["metadata"].get("annotations") or {})


def is_critical(pod: Object) -> bool:
    """Return whether the node needs the pod more than anything else."""
    return is_static(pod) or is_mirror(pod) or int(pod["spec"].get("priority") or 0) >= _CRITICAL_PRIORITY
