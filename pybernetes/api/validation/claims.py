"""Checks of what claims to storage have in common: claims, volumes, and the templates inside other kinds."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names, resources
from pybernetes.api.validation.selectors import validate_label_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
NOT_POSITIVE = "must be greater than zero"


def validate_access_modes(modes: list[str], path: Path, errors: Errors) -> None:
    """Check that the modes are known, and that ReadWriteOncePod is alone."""
    for mode in modes:
        if mode not in ACCESS_MODES:
            errors.unsupported(path, mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(
        mode in ACCESS_MODES and mode != "ReadWriteOncePod" for mode in modes
    ):
        errors.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def validate_class_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a StorageClass or a VolumeAttributesClass."""
    checks.name(names.dns_subdomain, name, path, errors)


def validate_claim_spec(
    spec: Object, path: Path, errors: Errors, *, allow_invalid_values: bool = False,
    allow_invalid_groups: bool = False,
) -> None:  # fmt: skip
    """Check the spec of a PersistentVolumeClaim; the two flags are for claims that hold such things already."""
    modes = spec.get("accessModes", [])
    if not modes:
        errors.required(path / "accessModes", "at least 1 access mode is required")
    if "selector" in spec:
        selector = path / "selector"
        validate_label_selector(spec["selector"], selector, errors, allow_invalid_values=allow_invalid_values)
    validate_access_modes(modes, path / "accessModes", errors)
    _storage(spec.get("resources", {}).get("requests", {}), (path / "resources")["storage"], errors)
    for key in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(key):
            validate_class_name(spec[key], path / key, errors)
    if "volumeMode" in spec and spec["volumeMode"] not in VOLUME_MODES:
        errors.unsupported(path / "volumeMode", spec["volumeMode"], VOLUME_MODES)
    _data_sources(spec, path, errors, allow_invalid_groups)


def _storage(requests: dict[str, str], path: Path, errors: Errors) -> None:
    if "storage" not in requests:
        errors.required(path)
    elif quantity.parse(requests["storage"]) <= 0:
        errors.invalid(path, requests["storage"], NOT_POSITIVE)
    else:
        resources.quantity_value("storage", requests["storage"], path, errors)


def _data_sources(spec: Object, path: Path, errors: Errors, allow_invalid_groups: bool) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for key, held in (("dataSource", source), ("dataSourceRef", reference)):
        if held is not None:
            _data_source(held, path / key, errors, allow_invalid_groups)
    if reference and reference.get("namespace"):
        checks.name(names.dns_label, reference["namespace"], path / "dataSourceRef" / "namespace", errors)
        if source is not None:
            text = "may not be specified when dataSourceRef.namespace is specified"
            errors.invalid(path, {}, text)  # upstream shows the path, which has no visible fields
    elif source is not None and reference is not None:
        keys = ("apiGroup", "kind", "name")
        if [source.get(key) for key in keys] != [reference.get(key) for key in keys]:
            errors.invalid(path, {}, "must match dataSourceRef")


def _data_source(held: Object, path: Path, errors: Errors, allow_invalid_groups: bool) -> None:
    for key in ("name", "kind"):
        if not held.get(key):
            errors.required(path / key)
    group = held.get("apiGroup")
    if not group and held.get("kind") != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.invalid(path, held.get("kind", ""), text)
    if group and not allow_invalid_groups:
        checks.name(names.dns_subdomain, group, path / "apiGroup", errors)
