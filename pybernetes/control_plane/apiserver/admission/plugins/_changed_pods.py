"""Pods that change on the node that they are bound to."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import Attributes


def changed_pod(attributes: Attributes) -> tuple[Object, Object, str] | None:
    """Return a pod whose spec changes, what it was, and its node; None if it is bound to none or stays as it is."""
    pod, old = attributes.obj, attributes.old
    assert pod is not None and old is not None
    node = pod["spec"].get("nodeName")
    if not node or pod["metadata"].get("generation") == old["metadata"].get("generation"):
        return None
    return pod, old, node
