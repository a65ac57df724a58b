"""PersistentVolume: a piece of storage in the cluster."""

from __future__ import annotations

import posixpath
from typing import Any

from pybernetes.api import current_time as time
from pybernetes.api import quantity
from pybernetes.api.core import _storage
from pybernetes.api.core._volume_sources import SOURCES, validate_source
from pybernetes.api.core.pod import volume_defaults
from pybernetes.api.defaults.resources import default_resource_list
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.text import go_format
from pybernetes.api.validation import meta
from pybernetes.api.validation.claims import (
    NOT_POSITIVE,
    VOLUME_MODES,
    validate_access_modes,
    validate_class_name,
)
from pybernetes.api.validation.selectors import validate_node_selector

_SPEC = Path("spec")
_RECLAIM = ("Delete", "Recycle", "Retain")
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_WITH_MOUNT_OPTIONS = (
    "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs",
    "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
)  # fmt: skip
_STABLE_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
# The sources in the order of Go's struct.
_GO_SOURCES = {
    "GCEPersistentDisk": "gcePersistentDisk",
    "AWSElasticBlockStore": "awsElasticBlockStore",
    "HostPath": "hostPath",
    "Glusterfs": "glusterfs",
    "NFS": "nfs",
    "RBD": "rbd",
    "ISCSI": "iscsi",
    "Cinder": "cinder",
    "CephFS": "cephfs",
    "FC": "fc",
    "Flocker": "flocker",
    "FlexVolume": "flexVolume",
    "AzureFile": "azureFile",
    "VsphereVolume": "vsphereVolume",
    "Quobyte": "quobyte",
    "AzureDisk": "azureDisk",
    "PhotonPersistentDisk": "photonPersistentDisk",
    "PortworxVolume": "portworxVolume",
    "ScaleIO": "scaleIO",
    "Local": "local",
    "StorageOS": "storageos",
    "CSI": "csi",
}
_DEPRECATED = {
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}


def default(obj: Object) -> None:
    """Keep a volume after its claim and give it a file system, unless it says otherwise."""
    spec = obj.setdefault("spec", {})
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    spec.setdefault("volumeMode", "Filesystem")
    if "capacity" in spec:
        default_resource_list(spec["capacity"])
    for key in spec.keys() & SOURCES.keys() & volume_defaults.SOURCES.keys():
        volume_defaults.SOURCES[key](spec[key])
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"


def prepare_create(obj: Object) -> None:
    """Make a new volume pending from now on."""
    obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": time.timestamp()}


def prepare_status_update(new: Object, old: Object) -> None:
    """Note when the phase changed, unless the writer did."""
    key = "lastPhaseTransitionTime"
    after, before = new.setdefault("status", {}), old.get("status", {})
    if after.get("phase") != before.get("phase"):
        if after.get(key) is None or after[key] == before.get(key):
            after[key] = time.timestamp()
    elif after.get(key) is None and key in before:
        after[key] = before[key]


def validate(obj: Object, errors: Errors) -> None:
    """Check access, size, where it can be used from, and the one source that it must have."""
    spec = obj.get("spec", {})
    if not spec.get("accessModes"):
        errors.required(_SPEC / "accessModes")
    validate_access_modes(spec.get("accessModes", []), _SPEC / "accessModes", errors)
    _capacity(spec.get("capacity", {}), errors)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _RECLAIM:
        errors.unsupported(_SPEC / "persistentVolumeReclaimPolicy", policy, _RECLAIM)
    if "nodeAffinity" in spec:
        path = _SPEC / "nodeAffinity" / "required"
        if "required" in spec["nodeAffinity"]:
            validate_node_selector(spec["nodeAffinity"]["required"], path, errors)
        else:
            errors.required(path, "must specify required node constraints")
    validate_source(spec, obj["metadata"].get("name", ""), _SPEC, errors)
    if policy == "Recycle" and posixpath.normpath(spec.get("hostPath", {}).get("path", "x")) == "/":
        text = "may not be 'recycle' for a hostPath mount of '/'"
        errors.forbidden(_SPEC / "persistentVolumeReclaimPolicy", text)
    if spec.get("storageClassName"):
        validate_class_name(spec["storageClassName"], _SPEC / "storageClassName", errors)
    if "volumeMode" in spec and spec["volumeMode"] not in VOLUME_MODES:
        errors.unsupported(_SPEC / "volumeMode", spec["volumeMode"], VOLUME_MODES)
    if "volumeAttributesClassName" in spec:
        _attributes_class(spec, errors)
    annotations = obj["metadata"].get("annotations") or {}
    if _MOUNT_OPTIONS in annotations and not any(key in spec for key in _WITH_MOUNT_OPTIONS):
        path = Path("metadata") / "annotations" / _MOUNT_OPTIONS
        errors.forbidden(path, "may not specify mount options for this volume type")


def _capacity(capacity: dict[str, str], errors: Errors) -> None:
    path = _SPEC / "capacity"
    if not capacity:
        errors.required(path)
    if "storage" not in capacity or len(capacity) > 1:
        errors.unsupported(path, capacity or None, ("storage",))
    for name, amount in capacity.items():
        if quantity.integer(amount) < 0:
            errors.invalid(path[name], quantity.integer(amount), "must be a valid resource quantity")
        if quantity.parse(amount) <= 0:
            errors.invalid(path[name], amount, NOT_POSITIVE)


def _attributes_class(spec: Object, errors: Errors) -> None:
    path = _SPEC / "volumeAttributesClassName"
    if not spec["volumeAttributesClassName"]:
        errors.required(path, "an empty string is disallowed")
    else:
        validate_class_name(spec["volumeAttributesClassName"], path, errors)
    if "csi" not in spec:
        errors.required(_SPEC / "csi", "has to be specified when using volumeAttributesClassName")


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the source, the mode and the nodes stay."""
    spec, before = new.get("spec", {}), old.get("spec", {})
    after_source, before_source = (
        {key: held[key] for key in SOURCES if key in held} for held in (spec, before)
    )
    late = "controllerExpandSecretRef"
    if "csi" in after_source and "csi" in before_source and late not in before_source["csi"]:
        after_source["csi"] = {key: value for key, value in after_source["csi"].items() if key != late}
    if after_source != before_source:
        text = "spec.persistentvolumesource is immutable after creation\n"
        text += go_format.difference(_shown_source(before_source), _shown_source(after_source))
        errors.forbidden(_SPEC / "persistentvolumesource", text)
    meta.immutable(spec.get("volumeMode"), before.get("volumeMode"), Path("volumeMode"), errors)
    affinity = before.get("nodeAffinity")
    if affinity is not None and _renamed(affinity, spec.get("nodeAffinity")) != spec.get("nodeAffinity"):
        text = f"{meta.IMMUTABLE}, except for updating from beta label to GA"
        errors.invalid(Path("nodeAffinity"), _shown_affinity(spec.get("nodeAffinity")), text)
    name = "volumeAttributesClassName"
    if name in before and name not in spec:
        errors.forbidden(_SPEC / name, "update from non-nil value to nil is forbidden")


def _shown_source(source: Object) -> go_format.Struct:
    """Return the source as Go prints it: every kind of source, all but one null."""
    return go_format.Struct({name: _capitalized(source.get(key)) for name, key in _GO_SOURCES.items()})


def _capitalized(value: Any) -> Any:
    if isinstance(value, dict):
        return {key[:1].upper() + key[1:]: _capitalized(item) for key, item in value.items()}
    return value


def _shown_affinity(affinity: Object | None) -> go_format.Struct | None:
    """Return the node affinity as Go prints it."""
    if affinity is None:
        return None

    def requirements(rows: list[Object] | None) -> list[go_format.Struct] | None:
        return [
            go_format.Struct(
                Key=row.get("key", ""), Operator=row.get("operator", ""), Values=row.get("values")
            )
            for row in rows or ()
        ] or None

    terms = [
        go_format.Struct(
            MatchExpressions=requirements(term.get("matchExpressions")),
            MatchFields=requirements(term.get("matchFields")),
        )
        for term in affinity.get("required", {}).get("nodeSelectorTerms", ())
    ]
    return go_format.Struct(Required=go_format.Struct(NodeSelectorTerms=terms))


def _renamed(old: Any, new: Any) -> Any:
    """Return the old affinity with those labels renamed that the new one has under their stable names."""
    if isinstance(old, dict) and isinstance(new, dict):
        renamed = {key: _renamed(value, new.get(key)) for key, value in old.items()}
        if "operator" in old and _STABLE_LABELS.get(old.get("key", "")) == new.get("key"):
            renamed["key"] = new.get("key")
        return renamed
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [_renamed(*pair) for pair in zip(old, new, strict=True)]
    return old


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about deprecated annotations, policies, labels and sources."""
    spec, annotations = obj.get("spec", {}), obj["metadata"].get("annotations") or {}
    messages = []
    if _storage.CLASS_ANNOTATION in annotations:
        text = 'deprecated since v1.8; use "storageClassName" attribute instead'
        messages.append(f"metadata.annotations[{_storage.CLASS_ANNOTATION}]: {text}")
    if _MOUNT_OPTIONS in annotations:
        text = 'deprecated since v1.31; use "mountOptions" attribute instead'
        messages.append(f"metadata.annotations[{_MOUNT_OPTIONS}]: {text}")
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        text = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."
        messages.append(f"spec.persistentVolumeReclaimPolicy: {text}")
    terms = spec.get("nodeAffinity", {}).get("required", {}).get("nodeSelectorTerms", ())
    for index, term in enumerate(terms):
        path = (_SPEC / "nodeAffinity" / "required" / "nodeSelectorTerms")[index] / "matchExpressions"
        for position, expression in enumerate(term.get("matchExpressions", ())):
            key = expression.get("key", "")
            if key in _STABLE_LABELS:
                since = "v1.17" if "failure-domain" in key or "instance" in key else "v1.14"
                stable = _STABLE_LABELS[key]
                messages.append(
                    f'{path[position]}.key: {key} is deprecated since {since}; use "{stable}" instead'
                )
    for key, text in _DEPRECATED.items():
        if key in spec:
            messages.append(f"spec.{'storageOS' if key == 'storageos' else key}: {text}")
    return messages


def _claim(obj: Object, now: float) -> str:
    claim = obj.get("spec", {}).get("claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim is not None else ""


def _spec(key: str, unset: str = "") -> Any:
    return lambda obj, now: obj.get("spec", {}).get(key, unset)


RESOURCE = Resource(
    group="",
    version="v1",
    kind="PersistentVolume",
    plural="persistentvolumes",
    short_names=("pv",),
    namespaced=False,
    subresources=("status",),
    columns=(
        NAME,
        Column("Capacity", lambda obj, now: obj.get("spec", {}).get("capacity", {}).get("storage", "0")),
        Column(
            "Access Modes", lambda obj, now: _storage.access_modes(obj.get("spec", {}).get("accessModes"))
        ),
        Column("Reclaim Policy", _spec("persistentVolumeReclaimPolicy")),
        Column("Status", lambda obj, now: _storage.phase(obj)),
        Column("Claim", _claim),
        Column("StorageClass", lambda obj, now: _storage.storage_class(obj)),
        Column("VolumeAttributesClass", _spec("volumeAttributesClassName", "<unset>")),
        Column("Reason", lambda obj, now: obj.get("status", {}).get("reason", "")),
        AGE,
        Column("VolumeMode", _spec("volumeMode", "<unset>"), priority=1),
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_status_update=prepare_status_update,
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
