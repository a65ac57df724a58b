"""A pod whose usage is measured."""

from __future__ import annotations

from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime


@dataclass(frozen=True, slots=True)
class MeasuredPod:
    """A pod, what the runtime has of it, and what is reported about it."""

    pod: Object
    runtime: PodRuntime
    status: Object

    @property
    def uid(self) -> str:
        """The uid of the pod."""
        return self.pod["metadata"]["uid"]
