"""The sources that a PersistentVolume can have: exactly one, each with fields that it must have."""

from __future__ import annotations

import re
from collections.abc import Callable

from pybernetes.api.core.pod.validation.volume_sources import (
    needs,
    partitioned,
    validate_azure_disk,
    validate_csi_driver,
    validate_fc,
    validate_flex,
    validate_flocker,
    validate_host_path,
    validate_nfs,
    validate_quobyte,
)
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

Check = Callable[[Object, Path, Errors], None]
_LUN = "must be between 0 and 255, inclusive"
_INITIATORS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)\Z"),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}\Z"),
}


def _local(source: Object, path: Path, errors: Errors) -> None:
    if not source.get("path"):
        errors.required(path / "path")
    else:
        checks.no_backsteps(source["path"], path / "path", errors)


def _glusterfs(source: Object, path: Path, errors: Errors) -> None:
    needs("endpoints", "path")(source, path, errors)
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        text = "if the endpointnamespace is set, it must be a valid namespace name"
        errors.invalid(path / "endpointsNamespace", namespace, text)
    elif namespace is not None:
        checks.name(names.dns_label, namespace, path / "endpointsNamespace", errors)


def _initiator(value: str, path: Path, errors: Errors) -> None:
    pattern = _INITIATORS.get(value[:3])
    if pattern is None or not (pattern.search(value) if value[:3] == "iqn" else pattern.match(value)):
        errors.invalid(path, value, "must be valid format")


def _iscsi(source: Object, path: Path, errors: Errors) -> None:
    needs("targetPortal")(source, path, errors)
    if not source.get("iqn"):
        errors.required(path / "iqn")
    else:
        _initiator(source["iqn"], path / "iqn", errors)
    if not 0 <= source.get("lun", 0) <= 255:
        errors.invalid(path / "lun", source["lun"], _LUN)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        errors.required(path / "secretRef")
    _secret(source, path, errors, ("name",))
    if "initiatorName" in source:
        _initiator(source["initiatorName"], path / "initiatorname", errors)


def _secret(
    source: Object, path: Path, errors: Errors, keys: tuple[str, ...] = ("name", "namespace")
) -> None:
    if "secretRef" in source:
        needs(*keys)(source["secretRef"], path / "secretRef", errors)


def _cinder(source: Object, path: Path, errors: Errors) -> None:
    needs("volumeID")(source, path, errors)
    _secret(source, path, errors)


def _azure_file(source: Object, path: Path, errors: Errors) -> None:
    needs("secretName", "shareName")(source, path, errors)
    if source.get("secretNamespace") == "":
        errors.required(path / "secretNamespace")


def _storageos(source: Object, path: Path, errors: Errors) -> None:
    needs("volumeName")(source, path, errors)
    for key in ("volumeName", "volumeNamespace"):
        for problem in names.dns_label(source[key]) if source.get(key) else ():
            errors.invalid(path / key, source[key], problem)
    _secret(source, path, errors)


def _csi(source: Object, path: Path, errors: Errors) -> None:
    validate_csi_driver(source.get("driver", ""), path / "driver", errors)
    needs("volumeHandle")(source, path, errors)
    for key in ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"):
        reference = source.get(f"{key}SecretRef")
        if reference is None:
            continue
        here = path / f"{key}SecretRef"
        for part, name_errors in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
            if not reference.get(part):
                errors.required(here / part)
            else:
                for problem in name_errors(reference[part]):
                    errors.invalid(here / part, reference[part], problem)


# In the order in which they are looked at: the first one found is checked, a further one is refused.
SOURCES: dict[str, Check] = {
    "hostPath": validate_host_path,
    "gcePersistentDisk": partitioned("pdName"),
    "awsElasticBlockStore": partitioned("volumeID"),
    "glusterfs": _glusterfs,
    "flocker": validate_flocker,
    "nfs": validate_nfs,
    "rbd": needs("monitors", "image"),
    "quobyte": validate_quobyte,
    "cephfs": needs("monitors"),
    "iscsi": _iscsi,
    "cinder": _cinder,
    "fc": validate_fc,
    "flexVolume": validate_flex,
    "azureFile": _azure_file,
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": validate_azure_disk,
    "scaleIO": needs("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": _storageos,
    "csi": _csi,
}


def validate_source(spec: Object, volume_name: str, path: Path, errors: Errors) -> None:
    """Check that there is one source, and that it is complete."""
    has_source = False
    for key, check in SOURCES.items():
        if key not in spec:
            continue
        if has_source and key != "flexVolume":
            errors.forbidden(
                path / ("cephFS" if key == "cephfs" else key), "may not specify more than 1 volume type"
            )
            continue
        has_source = True
        check(spec[key], path / ("persistentDisk" if key == "gcePersistentDisk" else key), errors)
        if key == "local" and "nodeAffinity" not in spec:
            errors.required(path / "nodeAffinity", "Local volume requires node affinity")
        if key == "iscsi" and "initiatorName" in spec[key]:
            portal = spec[key].get("targetPortal", "")
            if len(f"{volume_name}:{portal}".encode()) > 64:
                text = (
                    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
                    "if iscsi.initiatorName is specified."
                )
                errors.invalid(path / "iscsi" / "targetportal", portal, text)
    if not has_source:
        errors.required(path, "must specify a volume type")
