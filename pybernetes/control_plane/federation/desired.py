"""The object that a federated one stands for, in one cluster."""

from __future__ import annotations

import re

from pybernetes.api.resource import Object
from pybernetes.client.client import copy
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation import overrides
from pybernetes.control_plane.federation.kinds import MANAGED
from pybernetes.control_plane.federation.retention import retain
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.control_plane.federation.versions import digest, template_version

# A template has no say in these: controllers of members put theirs there. Overrides may add some.
UNSUPPORTED = ("annotations", "finalizers")
_FORMER_GROUP = (
    "extensions"  # which Deployments, Ingresses and others were in before they had groups of their own
)
_API_VERSION = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9][a-z0-9]{0,20}")


def wanted(obj: Object, operations: overrides.Operations) -> str:
    """Return a digest of what a federated object asks for in a cluster with these overrides."""
    spec = obj.get("spec") or {}
    return digest([template_version(obj), list(operations), bool(spec.get("retainReplicas"))])


def desired(
    obj: Object, config: TypeConfig, operations: overrides.Operations, current: Object | None = None
) -> Object:
    """Return what a cluster is to have, given what it has; ValueError if the overrides do not fit."""
    spec = obj.get("spec") or {}
    result: Object = copy(spec.get("template") or {})
    target = config.target
    labels = (result.get("metadata") or {}).get("labels")
    result.pop("status", None)
    result["metadata"] = {"labels": labels} if labels else {}
    result["kind"] = target.kind
    result.setdefault("apiVersion", target.api_version)
    if current is not None:
        retain(result, current, replicas=bool(spec.get("retainReplicas")))
    if operations:
        if any(operation.get("path", "").startswith("/metadata/annotations/") for operation in operations):
            result["metadata"].setdefault("annotations", {})
        result = overrides.apply(result, operations)
    own = obj["metadata"]
    meta = {**result.get("metadata", {}), "name": own["name"]}
    if target.namespaced:
        meta["namespace"] = own["namespace"]
    meta["labels"] = {**(meta.get("labels") or {}), MANAGED: "true"}
    return {**result, "kind": target.kind, "metadata": meta}


def ref_of(obj: Object, target: Ref) -> Ref:
    """Return the kind of an object, whose version a template or an override may have changed.

    It becomes part of a path: whatever else it could name there is not theirs to name, nor is a kind of another group
    that has the same plural, which somebody else may be allowed to federate.
    """
    text = obj.get("apiVersion")
    if not isinstance(text, str) or not _API_VERSION.fullmatch(text):
        raise ValueError(f"apiVersion: {text!r} is no version of an API")
    group, _, version = text.rpartition("/")
    if group not in (target.group, _FORMER_GROUP):
        raise ValueError(
            f"apiVersion: {text!r} is not of the group of {target.kind}, {target.group or 'v1'!r}"
        )
    return target._replace(group=group, version=version)


def target_key(config: TypeConfig, key: str) -> str:
    """Return the key that an object has in members, from the key of the federated one."""
    return key.rpartition("/")[2] if config.is_namespace else key


def federated_key(config: TypeConfig, key: str) -> str:
    """Return the key of the federated object, from that of an object in a member."""
    return f"{key}/{key}" if config.is_namespace else key


def unsupported(obj: Object) -> list[str]:
    """Return the fields of a template's metadata that are not carried over."""
    meta = ((obj.get("spec") or {}).get("template") or {}).get("metadata") or {}
    return [name for name in UNSUPPORTED if meta.get(name)]
