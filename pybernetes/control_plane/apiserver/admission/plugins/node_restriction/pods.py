"""Pods: mirror pods of a node's own, and the status, deletion and eviction of pods that are bound to it."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugins.node_restriction.lookups import Lookups
from pybernetes.control_plane.apiserver.authz.node.references import MIRROR, named_by_pod

# Volumes that refer to objects, and how they are told; any other that is known needs nothing from the API.
_VOLUMES = {
    "configMap": "configmaps (via configmap volumes)",
    "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_PROJECTIONS = {
    "configMap": "configmaps (via projected volumes)",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}


def check(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Refuse what a node may not do to a pod."""
    match attributes.subresource:
        case "":
            _pod(lookups, node, attributes)
        case "status":
            _status(node, attributes)
        case "eviction":
            _eviction(lookups, node, attributes)
        case other:
            attributes.refuse(
                f"unexpected pod subresource {go_format.quote(other)}, only 'status' and 'eviction' are allowed"
            )


def _pod(lookups: Lookups, node: str, attributes: Attributes) -> None:
    quoted = go_format.quote(node)
    if attributes.operation == CREATE:
        assert attributes.obj is not None
        _create(lookups, node, attributes, attributes.obj)
    elif attributes.operation == DELETE:
        if _node_name(attributes.old) != node:
            attributes.refuse(f"node {quoted} can only delete pods with spec.nodeName set to itself")
    else:
        operation = go_format.quote(attributes.operation)
        attributes.refuse(
            f"unexpected operation {operation}, node {quoted} can only create and delete mirror pods"
        )


def _node_name(pod: Object | None) -> str:
    return (pod or {}).get("spec", {}).get("nodeName", "")


def _create(lookups: Lookups, node: str, attributes: Attributes, pod: Object) -> None:
    quoted, meta = go_format.quote(node), pod["metadata"]
    if MIRROR not in (meta.get("annotations") or {}):
        attributes.refuse(
            f"pod does not have {go_format.quote(MIRROR)} annotation, node {quoted} can only create mirror pods"
        )
    if _node_name(pod) != node:
        attributes.refuse(f"node {quoted} can only create pods with spec.nodeName set to itself")
    owners = meta.get("ownerReferences") or []
    if len(owners) > 1:
        attributes.refuse(f"node {quoted} can only create pods with a single owner reference set to itself")
    wanted = ("v1", "Node", node)
    if not owners or tuple(owners[0].get(key) for key in ("apiVersion", "kind", "name")) != wanted:
        attributes.refuse(f"node {quoted} can only create pods with an owner reference set to itself")
    _owner(lookups, node, attributes, owners[0])
    reference = reference_of(attributes, pod)
    if reference:
        attributes.refuse(f"node {quoted} can not create pods that reference {reference}")


def _owner(lookups: Lookups, node: str, attributes: Attributes, owner: dict[str, Any]) -> None:
    quoted = go_format.quote(node)
    if not owner.get("controller"):
        attributes.refuse(
            f"node {quoted} can only create pods with a controller owner reference set to itself"
        )
    if owner.get("blockOwnerDeletion"):
        attributes.refuse(f"node {quoted} must not set blockOwnerDeletion on an owner reference")
    node_object = lookups.nodes.get("", node)
    if node_object is None:
        raise errors.not_found("", "node", node)
    uid = node_object["metadata"].get("uid", "")
    if owner.get("uid") != uid:
        attributes.refuse(f"node {node} UID mismatch: expected {owner.get('uid', '')} got {uid}")


def reference_of(attributes: Attributes, pod: Object) -> str:
    """Return an object that a pod refers to and a node could not read otherwise, as messages tell it, or nothing."""
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        return "serviceaccounts"
    named = {resource for resource, name in named_by_pod(pod) if name}
    for resource in ("secrets", "configmaps"):
        if resource in named:
            return resource
    if spec.get("resourceClaims"):
        return "resourceclaims"
    for volume in spec.get("volumes") or ():
        for type_, told in _VOLUMES.items():
            if volume.get(type_) is not None:
                return told
        for source in (volume.get("projected") or {}).get("sources") or ():
            for type_, told in _PROJECTIONS.items():
                if source.get(type_) is not None:
                    return told
    return ""


def _status(node: str, attributes: Attributes) -> None:
    quoted, new, old = go_format.quote(node), attributes.obj or {}, attributes.old or {}
    if attributes.operation != UPDATE:
        attributes.refuse(f"unexpected operation {go_format.quote(attributes.operation)}")
    if _node_name(old) != node:
        attributes.refuse(
            f"node {quoted} can only update pod status for pods with spec.nodeName set to itself"
        )
    after, before = (pod.get("metadata", {}).get("labels") or {} for pod in (new, old))
    if after != before:
        attributes.refuse(f"node {quoted} cannot update labels through pod status")
    for key, words in (
        ("resourceClaimStatuses", "resource claim statues"),
        ("extendedResourceClaimStatus", "extended resource claim status"),
        ("nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses"),
    ):
        after, before = (pod.get("status", {}).get(key) or None for pod in (new, old))
        if after != before:
            attributes.refuse(f"node {quoted} cannot update {words}")


def _eviction(lookups: Lookups, node: str, attributes: Attributes) -> None:
    if attributes.operation != CREATE:
        attributes.refuse(f"unexpected operation {attributes.operation}")
    pod = lookups.pods.get(attributes.namespace, attributes.name)
    if pod is None:
        raise errors.not_found("", "pod", attributes.name)
    if _node_name(pod) != node:
        attributes.refuse(f"node {node} can only evict pods with spec.nodeName set to itself")
