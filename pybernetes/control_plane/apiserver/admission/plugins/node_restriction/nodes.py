"""Nodes: a kubelet's own, without the taints, owners and labels that would draw others' pods to it."""

from __future__ import annotations

from typing import Any

from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugins.node_restriction.lookups import Lookups

Labels = dict[str, str]
_RESERVED = "node-restriction.kubernetes.io"
_KUBELET_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBELET_LABELS = frozenset(
    {"kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
     "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
     "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type", "kubernetes.io/os",
     "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch"}
)  # fmt: skip


def _within(namespace: str, *domains: str) -> bool:
    return any(namespace == domain or namespace.endswith(f".{domain}") for domain in domains)


def is_forbidden(label: str) -> bool:
    """Return whether a label is one that a kubelet may not set on its own node."""
    namespace = label.partition("/")[0] if "/" in label else ""
    if _within(namespace, _RESERVED):
        return True
    if not _within(namespace, "kubernetes.io", "k8s.io"):
        return False
    return label not in _KUBELET_LABELS and not _within(namespace, *_KUBELET_NAMESPACES)


def _changed(new: Labels, old: Labels) -> list[str]:
    keys = {key for key in new.keys() | old.keys() if new.get(key) != old.get(key)}
    return sorted(key for key in keys if is_forbidden(key))


def check(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Refuse what a node may not do to a node."""
    quoted = go_format.quote(node)
    if attributes.name != node:
        attributes.refuse(f"node {quoted} is not allowed to modify node {go_format.quote(attributes.name)}")
    new: dict[str, Any] = attributes.obj or {}
    old: dict[str, Any] = attributes.old or {}
    spec, old_spec = new.get("spec", {}), old.get("spec", {})
    meta, old_meta = new.get("metadata", {}), old.get("metadata", {})
    if attributes.operation == CREATE:
        if spec.get("configSource") is not None:
            attributes.refuse(f"node {quoted} is not allowed to create pods with a non-nil configSource")
        forbidden = _changed(meta.get("labels") or {}, {})
        if forbidden:
            attributes.refuse(
                f"node {quoted} is not allowed to set the following labels: {', '.join(forbidden)}"
            )
    if attributes.operation == UPDATE:
        source = spec.get("configSource")
        if source is not None and source != old_spec.get("configSource"):
            attributes.refuse(
                f"node {quoted} is not allowed to update configSource to a new non-nil configSource"
            )
        if (spec.get("taints") or []) != (old_spec.get("taints") or []):
            attributes.refuse(f"node {quoted} is not allowed to modify taints")
        if (meta.get("ownerReferences") or []) != (old_meta.get("ownerReferences") or []):
            attributes.refuse(f"node {quoted} is not allowed to modify ownerReferences")
        forbidden = _changed(meta.get("labels") or {}, old_meta.get("labels") or {})
        if forbidden:
            attributes.refuse(f"is not allowed to modify labels: {', '.join(forbidden)}")
