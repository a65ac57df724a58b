"""VolumeAttachment: the wish to have a volume attached to a node, and what became of it."""

from __future__ import annotations

import re

from pybernetes.api.core._volume_sources import validate_source
from pybernetes.api.field import Errors, Path
from pybernetes.api.metadata import keep_metadata
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.storage import _common
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import checks, declarative, names
from pybernetes.api.validation.claims import validate_access_modes
from pybernetes.api.validation.names import regex

_MAX_METADATA = 256 * 1024
_MAX_MESSAGE = 1024
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_CASELESS = re.compile(rf"(?:{_SUBDOMAIN})\Z", re.IGNORECASE | re.ASCII)
_CASELESS_TEXT = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_NOT_INLINE = "may not be specified in the context of inline volumes"
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def default(obj: Object) -> None:
    """Fill what is always written."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("attacher", "")
    spec.setdefault("nodeName", "")
    spec.setdefault("source", {})
    obj.setdefault("status", {}).setdefault("attached", False)


def prepare_create(obj: Object) -> None:
    """Start unattached."""
    obj["status"] = {"attached": False}


def validate(obj: Object, errors: Errors) -> None:
    """Check the source, the node and the attacher."""
    spec = obj.get("spec", {})
    path = Path("spec")
    source, volume = spec.get("source", {}), spec.get("source", {}).get("persistentVolumeName")
    if volume is None and "inlineVolumeSpec" not in source:
        errors.required(path / "source", _ONE_SOURCE)
    elif volume is not None and "inlineVolumeSpec" in source:
        errors.forbidden(path / "source", _ONE_SOURCE)
    elif volume == "":
        errors.required(
            path / "source" / "persistentVolumeName", "must specify non empty persistentVolumeName"
        )
    elif volume is None:
        _inline(source["inlineVolumeSpec"], path / "source" / "inlineVolumeSpec", errors)
    node = spec.get("nodeName", "")
    checks.name(names.dns_subdomain, node, path / "nodeName", errors)
    _status(obj.get("status", {}), errors)
    if volume is not None:
        checks.name(names.dns_subdomain, volume, path / "source" / "persistentVolumeName", errors)
    _attacher(spec.get("attacher", ""), path / "attacher", errors)


def _inline(spec: Object, path: Path, errors: Errors) -> None:
    """Check a volume of a pod that was once of an in-tree driver, for the CSI driver that replaced it."""
    for key in ("claimRef", "capacity", "nodeAffinity", "storageClassName"):
        if spec.get(key) is not None and spec[key] != "":
            errors.forbidden(path / key, _NOT_INLINE)
    if "csi" not in spec:
        errors.required(path / "csi", "has to be specified in the context of inline volumes")
    if not spec.get("accessModes"):
        errors.required(path / "accessModes")
    validate_access_modes(spec.get("accessModes", []), path / "accessModes", errors)
    if spec.get("persistentVolumeReclaimPolicy", "Retain") not in ("", "Retain"):
        text = "may only be Retain in the context of inline volumes"
        errors.forbidden(path / "persistentVolumeReclaimPolicy", text)
    validate_source(spec, "", path, errors)
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        text = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        errors.forbidden(path / "volumeMode", text)


def _attacher(name: str, path: Path, errors: Errors) -> None:
    if not name:
        errors.required(path)
        return
    if len(name.encode()) > 253:
        errors.invalid(path, name, names.max_length(253, "bytes"))
    if not _CASELESS.match(name):
        errors.invalid(path, name, regex(_CASELESS_TEXT, _SUBDOMAIN, "Example.com"))
    if len(name) > _common.MAX_DRIVER_NAME:
        errors.too_long(path, _common.MAX_DRIVER_NAME, "character")


def _status(status: Object, errors: Errors) -> None:
    path = Path("status")
    if _common.size(status.get("attachmentMetadata", {})) > _MAX_METADATA:
        errors.too_long(path / "attachmentMetadata", _MAX_METADATA)
    for key in ("attachError", "detachError"):
        problem = status.get(key, {})
        if len(problem.get("message", "").encode()) > _MAX_MESSAGE:
            errors.too_long(path / key / "message", _MAX_MESSAGE)
        if problem.get("errorCode", 0) < 0:
            text = "must be between 0 and 2147483647, inclusive"
            errors.invalid(path / key / "errorCode", problem["errorCode"], text)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the wish stays."""
    declarative.immutable(new.get("spec"), old.get("spec"), Path("spec"), errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the sizes in the status."""
    _status(new.get("status", {}), errors)


RESOURCE = Resource(
    group="storage.k8s.io",
    version="v1",
    kind="VolumeAttachment",
    plural="volumeattachments",
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    unconditional_update=False,
    columns=(
        NAME,
        Column("Attacher", lambda obj, now: get(obj, ".spec.attacher", ""), format="name"),
        Column("PV", lambda obj, now: get(obj, ".spec.source.persistentVolumeName", "")),
        Column("Node", lambda obj, now: get(obj, ".spec.nodeName", "")),
        Column("Attached", lambda obj, now: get(obj, ".status.attached", False), type="boolean"),
        AGE,
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_status_update=keep_metadata,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
)
