"""Federated objects from objects as they are: pure."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.client import copy
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.type_config import TypeConfig, for_target, plural_of
from pybernetes.tools.federation.resources import Resource

# What controllers make, which is made anew in every cluster.
MADE_BY_CONTROLLERS = (
    "endpoints", "events", "events.events.k8s.io", "replicasets.apps", "pods", "controllerrevisions.apps",
    "endpointslices.discovery.k8s.io", "leases.coordination.k8s.io", "resourceclaims.resource.k8s.io",
)  # fmt: skip
_ROOT_CONFIG_MAP = "kube-root-ca.crt"


def federated_object(config: TypeConfig, obj: Object) -> Object:
    """Return the federated object for one as it is; it is placed in all clusters."""
    target = copy(obj)
    meta = target["metadata"]
    spec = target.get("spec")
    if config.target.kind == "Namespace" and isinstance(spec, dict):
        spec.pop("finalizers", None)
        if not spec:
            del target["spec"]
    elif config.target.kind == "ServiceAccount":
        target.pop("secrets", None)
    elif config.target.kind == "Service" and isinstance(spec, dict):
        for name in ("clusterIP", "clusterIPs"):
            if spec.get(name) not in ("None", ["None"]):
                spec.pop(name, None)
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    template = {
        name: value
        for name, value in target.items()
        if name not in ("apiVersion", "kind", "status", "metadata")
    }
    labels = {
        name: value
        for name, value in (meta.get("labels") or {}).items()
        if name != "kubernetes.io/metadata.name"
    }
    if labels:
        template = {"metadata": {"labels": labels}, **template}
    own = {"name": meta["name"]}
    if config.federated.namespaced:
        own["namespace"] = meta["name"] if config.is_namespace else meta["namespace"]
    return {
        "apiVersion": config.federated.api_version,
        "kind": config.federated.kind,
        "metadata": own,
        "spec": {"template": template, "placement": {"clusterSelector": {"matchLabels": {}}}},
    }


def guessed_type(obj: Object) -> TypeConfig:
    """Return how an object of a file would be federated, without asking a server about its kind."""
    group, _, version = obj.get("apiVersion", "").rpartition("/")
    namespaced = bool((obj.get("metadata") or {}).get("namespace"))
    return for_target(Ref(group, version, plural_of(obj["kind"]), obj["kind"], namespaced))


def is_skipped(resource: Resource, skipped: Iterable[str]) -> bool:
    """Return whether the objects of a kind are left out of a namespace's contents."""
    ref = resource.ref
    if not ref.namespaced or not {"list", "create"} <= set(resource.verbs):
        return True
    if ref.group.endswith("kubefed.io") or ref.kind.startswith("Federated"):
        return True
    if resource.name in MADE_BY_CONTROLLERS:
        return True
    return any(name and (name == ref.group or resource.is_called(name)) for name in skipped)


def is_made_by_a_controller(obj: Object) -> bool:
    """Return whether an object comes from the cluster itself, and would come in every other, too."""
    meta = obj["metadata"]
    if any(owner.get("controller") for owner in meta.get("ownerReferences") or ()):
        return True
    kind, name = obj.get("kind"), meta["name"]
    if kind == "ServiceAccount" and name == "default":
        return True
    if kind == "ConfigMap" and name == _ROOT_CONFIG_MAP:
        return True
    return kind == "Secret" and obj.get("type") == "kubernetes.io/service-account-token"
