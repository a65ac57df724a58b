"""DefaultBinder: records the decision in the pod's binding subresource."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api.resource import Object
from pybernetes.scheduling.plugin import BindPlugin
from pybernetes.scheduling.pods import Pod


class DefaultBinder(BindPlugin):
    """Binds every pod."""

    name = "DefaultBinder"
    points = ("bind",)

    def bind(self, pod: Pod) -> Awaitable[object] | None:
        return self.handle.writer.create(
            "pods", binding(pod), pod.namespace, name=pod.name, subresource="binding"
        )


def binding(pod: Pod) -> Object:
    """Return the Binding that gives a pod its node; the uid protects a later pod of the same name."""
    return {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "target": {"kind": "Node", "name": pod.node},
    }


PLUGIN = DefaultBinder
