"""The sources that a PersistentVolume can have: exactly one, each with fields that it must have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import names

Fields = dict[str, Any]
Check = Callable[[Fields, Path, Errors], None]
_HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_LUN = "must be between 0 and 255, inclusive"
_PARTITION = "must be between 1 and 255, inclusive"
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"
_MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_INITIATORS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)\Z"),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}\Z"),
}


def _needs(*keys: str) -> Check:
    """A check that the fields are there."""

    def check(source: Fields, path: Path, errors: Errors) -> None:
        for key in keys:
            if not source.get(key):
                errors.required(path / key)

    return check


def _no_backsteps(value: str, path: Path, errors: Errors) -> None:
    if ".." in value.split("/"):
        errors.invalid(path, value, "must not contain '..'")


def _host_path(source: Fields, path: Path, errors: Errors) -> None:
    if not source.get("path"):
        errors.required(path / "path")
        return
    _no_backsteps(source["path"], path / "path", errors)
    if source.get("type", "") not in _HOST_PATH_TYPES:
        errors.unsupported(path / "type", source["type"], _HOST_PATH_TYPES)


def _local(source: Fields, path: Path, errors: Errors) -> None:
    if not source.get("path"):
        errors.required(path / "path")
    else:
        _no_backsteps(source["path"], path / "path", errors)


def _disk(key: str) -> Check:
    def check(source: Fields, path: Path, errors: Errors) -> None:
        _needs(key)(source, path, errors)
        if not 0 <= source.get("partition", 0) <= 255:
            errors.invalid(path / "partition", source["partition"], _PARTITION)

    return check


def _glusterfs(source: Fields, path: Path, errors: Errors) -> None:
    _needs("endpoints", "path")(source, path, errors)
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        text = "if the endpointnamespace is set, it must be a valid namespace name"
        errors.invalid(path / "endpointsNamespace", namespace, text)
    elif namespace is not None:
        for problem in names.dns_label(namespace):
            errors.invalid(path / "endpointsNamespace", namespace, problem)


def _flocker(source: Fields, path: Path, errors: Errors) -> None:
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uuid:
        errors.required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        errors.invalid(path / "datasetName", name, "must not contain '/'")


def _nfs(source: Fields, path: Path, errors: Errors) -> None:
    _needs("server", "path")(source, path, errors)
    if not source.get("path", "").startswith("/"):
        errors.invalid(path / "path", source.get("path", ""), "must be an absolute path")


def _quobyte(source: Fields, path: Path, errors: Errors) -> None:
    registry = source.get("registry", "")
    if not registry:
        errors.required(path / "registry", _PAIRS)
    elif len(source.get("tenant", "")) >= 65:
        errors.required(path / "tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            host, colon, _ = pair.rpartition(":")
            if not colon or (":" in host and not (host.startswith("[") and host.endswith("]"))):
                errors.invalid(path / "registry", registry, _PAIRS)
    _needs("volume")(source, path, errors)


def _initiator(value: str, path: Path, errors: Errors) -> None:
    pattern = _INITIATORS.get(value[:3])
    if pattern is None or not (pattern.search(value) if value[:3] == "iqn" else pattern.match(value)):
        errors.invalid(path, value, "must be valid format")


def _iscsi(source: Fields, path: Path, errors: Errors) -> None:
    _needs("targetPortal")(source, path, errors)
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


def _secret(source: Fields, path: Path, errors: Errors, keys: tuple[str, ...] = ("name", "namespace")) -> None:
    if "secretRef" in source:
        _needs(*keys)(source["secretRef"], path / "secretRef", errors)


def _cinder(source: Fields, path: Path, errors: Errors) -> None:
    _needs("volumeID")(source, path, errors)
    _secret(source, path, errors)


def _fibre_channel(source: Fields, path: Path, errors: Errors) -> None:
    targets, ids, lun = source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    if not targets and not ids:
        errors.required(path / "targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and ids:
        errors.invalid(path / "targetWWNs", targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets and lun is None:
        errors.required(path / "lun", "lun is required if targetWWNs is specified")
    elif targets and lun is not None and not 0 <= lun <= 255:
        errors.invalid(path / "lun", lun, _LUN)


def _flex(source: Fields, path: Path, errors: Errors) -> None:
    _needs("driver")(source, path, errors)
    for key in source.get("options", {}):
        if ("." + key.partition("/")[0].lower()).endswith((".kubernetes.io", ".k8s.io")):
            text = "kubernetes.io and k8s.io namespaces are reserved"
            errors.invalid((path / "options")[key], key, text)


def _azure_file(source: Fields, path: Path, errors: Errors) -> None:
    _needs("secretName", "shareName")(source, path, errors)
    if source.get("secretNamespace") == "":
        errors.required(path / "secretNamespace")


def _azure_disk(source: Fields, path: Path, errors: Errors) -> None:
    _needs("diskName", "diskURI")(source, path, errors)
    caching, kind, uri = source.get("cachingMode"), source.get("kind"), source.get("diskURI", "")
    if caching is not None and caching not in ("None", "ReadOnly", "ReadWrite"):
        errors.unsupported(path / "cachingMode", caching, ("None", "ReadOnly", "ReadWrite"))
    if kind is not None and kind not in ("Dedicated", "Managed", "Shared"):
        errors.unsupported(path / "kind", kind, ("Dedicated", "Managed", "Shared"))
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        errors.unsupported(path / "diskURI", uri, (_MANAGED_DISK,))
    if kind not in (None, "Managed") and not uri.startswith("https://"):
        errors.unsupported(path / "diskURI", uri, (_BLOB_DISK,))


def _storageos(source: Fields, path: Path, errors: Errors) -> None:
    _needs("volumeName")(source, path, errors)
    for key in ("volumeName", "volumeNamespace"):
        for problem in names.dns_label(source[key]) if source.get(key) else ():
            errors.invalid(path / key, source[key], problem)
    _secret(source, path, errors)


def _csi(source: Fields, path: Path, errors: Errors) -> None:
    driver = source.get("driver", "")
    if not driver:
        errors.required(path / "driver")
    else:
        if len(driver.encode()) > 63:
            errors.too_long(path / "driver", 63)
        for problem in names.dns_subdomain(driver.lower()):
            errors.invalid(path / "driver", driver, problem)
    _needs("volumeHandle")(source, path, errors)
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
    "hostPath": _host_path,
    "gcePersistentDisk": _disk("pdName"),
    "awsElasticBlockStore": _disk("volumeID"),
    "glusterfs": _glusterfs,
    "flocker": _flocker,
    "nfs": _nfs,
    "rbd": _needs("monitors", "image"),
    "quobyte": _quobyte,
    "cephfs": _needs("monitors"),
    "iscsi": _iscsi,
    "cinder": _cinder,
    "fc": _fibre_channel,
    "flexVolume": _flex,
    "azureFile": _azure_file,
    "vsphereVolume": _needs("volumePath"),
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "azureDisk": _azure_disk,
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": _storageos,
    "csi": _csi,
}


def validate_source(spec: Fields, volume_name: str, path: Path, errors: Errors) -> None:
    """Checks that there is one source, and that it is complete."""
    found = False
    for key, check in SOURCES.items():
        if key not in spec:
            continue
        if found and key != "flexVolume":
            errors.forbidden(path / ("cephFS" if key == "cephfs" else key), "may not specify more than 1 volume type")
            continue
        found = True
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
    if not found:
        errors.required(path, "must specify a volume type")
