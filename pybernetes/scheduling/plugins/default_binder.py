"""DefaultBinder: records the decision in the pod's binding subresource."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.scheduling.plugin import Plugin
from pybernetes.scheduling.pods import Pod


class DefaultBinder(Plugin):
    """Says what is written; ``binder.py`` writes it."""

    name = "DefaultBinder"
    points = ("bind",)

    @staticmethod
    def binding(pod: Pod, node: str) -> Object:
        """Return the Binding that gives a pod its node; the uid protects a later pod of the same name."""
        return {
            "kind": "Binding",
            "apiVersion": "v1",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "target": {"kind": "Node", "name": node},
        }


PLUGIN = DefaultBinder
