"""Checks of where containers mount volumes and devices."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def validate_mounts(container: Object, volumes: dict[str, Object], path: Path, errors: Errors) -> None:
    """Check the volume mounts of a container against the pod's volumes."""
    mounts = container.get("volumeMounts")
    if not mounts:
        return
    path = path / "volumeMounts"
    devices = {
        device.get("name", ""): device.get("devicePath", "") for device in container.get("volumeDevices", ())
    }
    taken: set[str] = set()
    for index, mount in enumerate(mounts):
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        here = path[index]
        if not name:
            errors.required(here / "name")
        if name not in volumes:
            errors.not_found(here / "name", name)
        if not target:
            errors.required(here / "mountPath")
        if target in taken:
            errors.invalid(here / "mountPath", target, "must be unique")
        taken.add(target)
        if name in devices:
            errors.invalid(here / "name", name, "must not already exist in volumeDevices")
        if target in devices.values():
            errors.invalid(here / "mountPath", target, "must not already exist as a path in volumeDevices")
        _options(mount, container, path, here, errors)


def _options(mount: Object, container: Object, path: Path, here: Path, errors: Errors) -> None:
    below, expression = mount.get("subPath"), mount.get("subPathExpr")
    if below:
        checks.descending_path(below, path / "subPath", errors)
    if expression:
        if below:
            text = "subPathExpr and subPath are mutually exclusive"
            errors.invalid(here / "subPathExpr", expression, text)
        checks.descending_path(expression, path / "subPathExpr", errors)
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        checks.one_of(propagation, _PROPAGATIONS, path / "mountPropagation", errors)
        if propagation == "Bidirectional" and not container.get("securityContext", {}).get("privileged"):
            text = "Bidirectional mount propagation is available only to privileged containers"
            errors.forbidden(path / "mountPropagation", text)
    recursive = mount.get("recursiveReadOnly")
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            errors.forbidden(path / "recursiveReadOnly", "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            text = "may only be specified when mountPropagation is None or not specified"
            errors.forbidden(path / "recursiveReadOnly", text)
    elif recursive is not None:
        checks.one_of(recursive, _RECURSIVE, path / "recursiveReadOnly", errors)


def validate_devices(container: Object, volumes: dict[str, Object], path: Path, errors: Errors) -> None:
    """Check the block devices of a container against the pod's volumes."""
    devices = container.get("volumeDevices")
    if not devices:
        return
    path = path / "volumeDevices"
    mounts = {
        mount.get("name", ""): mount.get("mountPath", "") for mount in container.get("volumeMounts", ())
    }
    names: set[str] = set()
    targets: set[str] = set()
    for index, device in enumerate(devices):
        name, target = device.get("name", ""), device.get("devicePath", "")
        here = path[index]
        if not name:
            errors.required(here / "name")
        if name in names:
            errors.invalid(here / "name", name, "must be unique")
        volume = volumes.get(name)
        if volume is None:
            errors.not_found(here / "name", name)
        elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
            text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.invalid(here / "name", name, text)
        if not target:
            errors.required(here / "devicePath")
        if target in targets:
            errors.invalid(here / "devicePath", target, "must be unique")
        if ".." in target.split("/"):
            errors.invalid(here / "devicePath", target, "can not contain backsteps ('..')")
        else:
            targets.add(target)
        if name in mounts:
            errors.invalid(here / "name", name, "must not already exist in volumeMounts")
        if target in mounts.values():
            errors.invalid(here / "devicePath", target, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)
