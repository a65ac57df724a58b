"""PersistentVolumeClaim: a request for storage, bound to a volume."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.core import _storage
from pybernetes.api.defaults.claims import default_claim_spec
from pybernetes.api.defaults.resources import default_resource_list
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.text import go_format
from pybernetes.api.validation import meta, names, resources
from pybernetes.api.validation.claims import validate_claim_spec

_SPEC, _STATUS = Path("spec"), Path("status")
_SIZE = _SPEC / "resources" / "requests" / "storage"
_RESIZE_STATES = (
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
    "NodeResizePending",
)  # fmt: skip
_FIXED = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"


def default(obj: Object) -> None:
    """Let a claim wait for a volume with a file system unless it says otherwise."""
    default_claim_spec(obj.setdefault("spec", {}))
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    for key in ("capacity", "allocatedResources"):
        if key in status:
            default_resource_list(status[key])


def prepare_create(obj: Object) -> None:
    """Make a new claim pending, and both forms of its data source agree."""
    obj["status"] = {"phase": "Pending"}
    _prepare(obj.get("spec", {}), {})


def prepare_update(new: Object, old: Object) -> None:
    """Keep both forms of the data source in step."""
    _prepare(new.get("spec", {}), old.get("spec", {}))


def prepare_status_update(new: Object, old: Object) -> None:
    """Drop the health of volumes, which is not in use yet."""
    if "healthStatus" not in old.get("status", {}):
        new.get("status", {}).pop("healthStatus", None)


def _prepare(spec: Object, before: Object) -> None:
    if spec.get("dataSourceRef", {}).get("namespace") and "dataSourceRef" not in before:
        del spec["dataSourceRef"]  # sources in other namespaces are not in use yet
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    used = "dataSource" in before or "dataSourceRef" in before
    if source is not None and reference is None and not used and not _is_known_source(source):
        # From the time when anything else was ignored.
        del spec["dataSource"]
        return
    keys = ("apiGroup", "kind", "name")
    if source is not None and reference is None:
        spec["dataSourceRef"] = {key: source[key] for key in keys if key in source}
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: reference[key] for key in keys if key in reference}


def _is_known_source(source: Object) -> bool:
    group_and_kind = (source.get("apiGroup") or "", source.get("kind"))
    return group_and_kind in (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


def validate_create(obj: Object, errors: Errors) -> None:
    """Check the spec of a new claim."""
    validate_claim_spec(obj.get("spec", {}), _SPEC, errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the spec stays, but for the size and the attributes of a bound claim."""
    spec, before = new.get("spec", {}), old.get("spec", {})
    groups = any("apiGroup" in before.get(key, {}) for key in ("dataSource", "dataSourceRef"))
    validate_claim_spec(spec, _SPEC, errors, allow_invalid_groups=groups)
    bound = new.get("status", {}).get("phase") == "Bound"
    after = {**spec}
    if not before.get("volumeName"):
        after.pop("volumeName", None)
    if _class_may_change(new, old, errors):
        after["storageClassName"] = before.get("storageClassName")
    if bound:
        after["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
        wanted = dict(after.get("resources", {}))
        wanted["requests"] = {**wanted.get("requests", {}), **_only_storage(before)}
        after["resources"] = wanted
    if _comparable(after) != _comparable(before):
        errors.forbidden(_SPEC, _FIXED + go_format.difference(_shown(before), _shown(after)))
    size, old_size = (quantity.parse(_only_storage(held).get("storage", "0")) for held in (spec, before))
    if size < old_size and size <= quantity.parse(
        old.get("status", {}).get("capacity", {}).get("storage", "0")
    ):
        errors.forbidden(_SIZE, "field can not be less than status.capacity")
    meta.immutable(spec.get("volumeMode"), before.get("volumeMode"), Path("volumeMode"), errors)
    name = "volumeAttributesClassName"
    if spec.get(name) != before.get(name) and "currentVolumeAttributesClassName" in old.get("status", {}):
        text = "update to {} is forbidden when status.currentVolumeAttributesClassName is not nil"
        if name not in spec:
            errors.forbidden(_SPEC / name, text.format("nil"))
        elif not spec[name]:
            errors.forbidden(_SPEC / name, text.format("empty string"))


def _only_storage(spec: Object) -> dict[str, str]:
    requests = spec.get("resources", {}).get("requests", {})
    return {"storage": requests["storage"]} if "storage" in requests else {}


def _class_may_change(new: Object, old: Object, errors: Errors) -> bool:
    """Return whether the class is only being filled in: from the old annotation, or where there was none."""
    key = _storage.CLASS_ANNOTATION
    after, before = new["metadata"].get("annotations") or {}, old["metadata"].get("annotations") or {}
    wanted = new.get("spec", {}).get("storageClassName")
    unset = old.get("spec", {}).get("storageClassName") is None
    if key in before and unset and wanted == before[key] and after.get(key, before[key]) == before[key]:
        return True
    if after.get(key, "") != before.get(key, ""):
        path = (Path("metadata") / "annotations")[key]
        errors.invalid(path, after.get(key, ""), meta.IMMUTABLE)
    return unset and wanted is not None and before.get(key, wanted) == wanted


def _comparable(spec: Object) -> Object:
    """Return the spec without what is empty and with quantities as numbers, so that spelling does not count."""
    comparable = {key: value for key, value in spec.items() if value not in (None, "", {}, [])}
    held = comparable.get("resources", {})
    comparable["resources"] = {
        key: {name: quantity.parse(amount) for name, amount in held.get(key, {}).items()}
        for key in ("limits", "requests")
    }
    return comparable


def _shown(spec: Object) -> go_format.Struct:
    """Return the spec as Go prints it."""
    held = spec.get("resources", {})
    return go_format.Struct(
        AccessModes=spec.get("accessModes"),
        Selector=spec.get("selector"),
        Resources=go_format.Struct(Limits=held.get("limits"), Requests=held.get("requests")),
        VolumeName=spec.get("volumeName", ""),
        StorageClassName=spec.get("storageClassName"),
        VolumeMode=spec.get("volumeMode"),
        DataSource=spec.get("dataSource"),
        DataSourceRef=spec.get("dataSourceRef"),
        VolumeAttributesClassName=spec.get("volumeAttributesClassName"),
    )


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check amounts and the states of a resize."""
    status = new.get("status", {})
    if not new.get("spec", {}).get("accessModes"):
        errors.required(Path("Spec") / "accessModes")
    for name, amount in status.get("capacity", {}).items():
        _basic(amount, (_STATUS / "capacity")[name], errors)
    path = _STATUS / "allocatedResourceStatuses"
    for name, state in status.get("allocatedResourceStatuses", {}).items():
        _resource_key(name, path, errors)
        if state not in _RESIZE_STATES:
            errors.unsupported(path, name, _RESIZE_STATES)
    path = _STATUS / "allocatedResources"
    for name, amount in status.get("allocatedResources", {}).items():
        if _resource_key(name, path, errors) and _basic(amount, path[name], errors):
            resources.quantity_value("storage", amount, path[name], errors)


def _basic(amount: str, path: Path, errors: Errors) -> bool:
    if (number := quantity.integer(amount)) < 0:
        errors.invalid(path, number, "must be a valid resource quantity")
    return number >= 0


def _resource_key(name: str, path: Path, errors: Errors) -> bool:
    problems = names.qualified_name(name)
    for problem in problems:
        errors.invalid(path, name, problem)
    if not problems and resources.is_native(name) and name != "storage":
        errors.unsupported(path, name, ("storage",))
        return False
    return not problems


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about the old annotation and about parts of bytes."""
    messages = []
    if _storage.CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {}):
        text = 'deprecated since v1.8; use "storageClassName" attribute instead'
        messages.append(f"metadata.annotations[{_storage.CLASS_ANNOTATION}]: {text}")
    for key in ("requests", "limits"):
        amount = obj.get("spec", {}).get("resources", {}).get(key, {}).get("storage", "0")
        if quantity.milli(amount) % 1000:
            path = (_SPEC / "resources" / key)["storage"]
            messages.append(f'{path}: fractional byte value "{amount}" is invalid, must be an integer')
    return messages


def _bound(obj: Object, value: str) -> str:
    return value if obj.get("spec", {}).get("volumeName") else ""


RESOURCE = Resource(
    group="",
    version="v1",
    kind="PersistentVolumeClaim",
    plural="persistentvolumeclaims",
    short_names=("pvc",),
    subresources=("status",),
    columns=(
        NAME,
        Column("Status", lambda obj, now: _storage.phase(obj)),
        Column("Volume", lambda obj, now: obj.get("spec", {}).get("volumeName", "")),
        Column("Capacity", lambda obj, now: _bound(obj, obj.get("status", {}).get("capacity", {}).get("storage", "0"))),
        Column("Access Modes", lambda obj, now: _bound(
            obj, _storage.access_modes(obj.get("status", {}).get("accessModes")))),
        Column("StorageClass", lambda obj, now: _storage.storage_class(obj)),
        Column("VolumeAttributesClass", lambda obj, now: obj.get("spec", {}).get(
            "volumeAttributesClassName", "<unset>")),
        AGE,
        Column("VolumeMode", lambda obj, now: obj.get("spec", {}).get("volumeMode", "<unset>"), priority=1),
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    prepare_status_update=prepare_status_update,
    validate_create=validate_create,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
    warnings=warnings,
)  # fmt: skip
