"""Checks of the sources that a pod's volume can have, one function each where there is more than presence."""

from __future__ import annotations

import re
from collections.abc import Callable

from pybernetes.api import quantity
from pybernetes.api.core.pod.validation.projected import (
    validate_downward_items,
    validate_items,
    validate_projected,
)
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, meta, names
from pybernetes.api.validation.claims import validate_claim_spec

Check = Callable[[Object, Path, Errors], None]
_HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate",
                    "Socket")  # fmt: skip
_IQN = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+\Z"),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}\Z"),
}
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_NOT_IN_TEMPLATES = ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
                     "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences",
                     "finalizers", "managedFields")  # fmt: skip
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"
_RESERVED = "kubernetes.io and k8s.io namespaces are reserved"


def needs(*keys: str) -> Check:
    """Return a check that fields are there."""
    return lambda source, path, errors: checks.present(source, keys, path, errors)


def _empty_dir(source: Object, path: Path, errors: Errors) -> None:
    if quantity.parse(source.get("sizeLimit", "0")) < 0:
        errors.forbidden(path / "sizeLimit", "SizeLimit field must be a valid resource quantity")


def validate_host_path(source: Object, path: Path, errors: Errors) -> None:
    """Check a path of the node."""
    if not source.get("path"):
        errors.required(path / "path")
        return
    checks.no_backsteps(source["path"], path / "path", errors)
    if "type" in source:
        checks.one_of(source["type"], _HOST_PATH_TYPES, path / "type", errors)


def _git_repo(source: Object, path: Path, errors: Errors) -> None:
    checks.present(source, ("repository",), path, errors)
    checks.descending_path(source.get("directory", ""), path / "directory", errors)


def partitioned(key: str, shown: str = "") -> Check:
    """Return a check of a disk of a cloud, with its partition."""

    def check(source: Object, path: Path, errors: Errors) -> None:
        if shown and path.parent is not None:
            path = path.parent / shown
        checks.present(source, (key,), path, errors)
        partition = source.get("partition", 0)
        if not 0 <= partition <= 255:
            errors.invalid(path / "partition", partition, checks.within(1, 255))

    return check


def _mapped(key: str) -> Check:
    def check(source: Object, path: Path, errors: Errors) -> None:
        checks.present(source, (key,), path, errors)
        if "defaultMode" in source:
            checks.file_mode(source["defaultMode"], path / "defaultMode", errors)
        validate_items(source.get("items", ()), path / "items", errors)

    return check


def _downward(source: Object, path: Path, errors: Errors) -> None:
    if "defaultMode" in source:
        checks.file_mode(source["defaultMode"], path / "defaultMode", errors)
    validate_downward_items(source.get("items", ()), path, errors)


def validate_nfs(source: Object, path: Path, errors: Errors) -> None:
    """Check an NFS export."""
    checks.present(source, ("server", "path"), path, errors)
    if not source.get("path", "").startswith("/"):
        errors.invalid(path / "path", source.get("path", ""), "must be an absolute path")


def _iscsi_name(value: str, path: Path, errors: Errors) -> None:
    pattern = _IQN.get(value[:3])
    if pattern is None:
        errors.invalid(path, value, "must be valid format starting with iqn, eui, or naa")
    elif not (pattern.search(value) if value.startswith("iqn") else pattern.match(value)):
        errors.invalid(path, value, "must be valid format")


def _iscsi(source: Object, path: Path, errors: Errors) -> None:
    checks.present(source, ("targetPortal", "iqn"), path, errors)
    if source.get("iqn"):
        _iscsi_name(source["iqn"], path / "iqn", errors)
    if not 0 <= source.get("lun", 0) <= 255:
        errors.invalid(path / "lun", source["lun"], checks.within(0, 255))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        errors.required(path / "secretRef")
    if "initiatorName" in source:
        _iscsi_name(source["initiatorName"], path / "initiatorname", errors)


def validate_flocker(source: Object, path: Path, errors: Errors) -> None:
    """Check a Flocker dataset."""
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uuid:
        errors.required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        errors.invalid(path / "datasetName", name, "must not contain '/'")


def _cinder(source: Object, path: Path, errors: Errors) -> None:
    checks.present(source, ("volumeID",), path, errors)
    if "secretRef" in source:
        checks.present(source["secretRef"], ("name",), path / "secretRef", errors)


def validate_quobyte(source: Object, path: Path, errors: Errors) -> None:
    """Check a Quobyte volume."""
    registry = source.get("registry", "")
    if not registry:
        errors.required(path / "registry", _PAIRS)
    elif len(source.get("tenant", "").encode()) >= 65:
        errors.required(path / "tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            host, colon, port = pair.rpartition(":")
            plain = ":" not in host or (host.startswith("[") and host.endswith("]"))
            if not colon or not plain or "[" in port or "]" in port or ("[" in host) != ("]" in host):
                errors.invalid(path / "registry", registry, _PAIRS)
    checks.present(source, ("volume",), path, errors)


def validate_fc(source: Object, path: Path, errors: Errors) -> None:
    """Check a Fibre Channel target."""
    targets, ids = source.get("targetWWNs", []), source.get("wwids", [])
    if not targets and not ids:
        errors.required(path / "targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and ids:
        text = "targetWWNs and wwids can not be specified simultaneously"
        errors.invalid(path / "targetWWNs", targets, text)
    if targets:
        if "lun" not in source:
            errors.required(path / "lun", "lun is required if targetWWNs is specified")
        elif not 0 <= source["lun"] <= 255:
            errors.invalid(path / "lun", source["lun"], checks.within(0, 255))


def validate_flex(source: Object, path: Path, errors: Errors) -> None:
    """Check a FlexVolume, whose options may not use Kubernetes' own names."""
    checks.present(source, ("driver",), path, errors)
    for key in source.get("options", ()):
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            errors.invalid((path / "options")[key], key, _RESERVED)


def validate_azure_disk(source: Object, path: Path, errors: Errors) -> None:
    """Check an Azure disk."""
    checks.present(source, ("diskName", "diskURI"), path, errors)
    if "cachingMode" in source:
        checks.one_of(source["cachingMode"], ("None", "ReadOnly", "ReadWrite"), path / "cachingMode", errors)
    kind, uri = source.get("kind"), source.get("diskURI", "")
    if kind is None:
        return
    checks.one_of(kind, ("Dedicated", "Managed", "Shared"), path / "kind", errors)
    start, form = ("/subscriptions/", _MANAGED) if kind == "Managed" else ("https://", _BLOB)
    if not uri.startswith(start):
        errors.unsupported(path / "diskURI", uri, (form,))


def _storage_os(source: Object, path: Path, errors: Errors) -> None:
    checks.required_name(names.dns_label, source.get("volumeName", ""), path / "volumeName", errors)
    if source.get("volumeNamespace"):
        checks.name(names.dns_label, source["volumeNamespace"], path / "volumeNamespace", errors)
    if "secretRef" in source:
        checks.present(source["secretRef"], ("name",), path / "secretRef", errors)


def validate_csi_driver(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a CSI driver."""
    if not name:
        errors.required(path)
        return
    if len(name.encode()) > 63:
        errors.too_long(path, 63)
    for problem in names.dns_subdomain(name.lower()):
        errors.invalid(path, name, problem)


def _csi(source: Object, path: Path, errors: Errors) -> None:
    validate_csi_driver(source.get("driver", ""), path / "driver", errors)
    if "nodePublishSecretRef" in source:
        secret = source["nodePublishSecretRef"].get("name", "")
        if not secret:
            errors.required(path / "nodePublishSecretRef" / "name")
        else:
            checks.name(names.dns_subdomain, secret, path / "name", errors)


def _ephemeral(source: Object, path: Path, errors: Errors) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        errors.required(path / "volumeClaimTemplate")
        return
    path = path / "volumeClaimTemplate"
    metadata = template.get("metadata", {})
    if "annotations" in metadata:
        meta.check_annotations(metadata["annotations"], path / "metadata" / "annotations", errors)
    if "labels" in metadata:
        meta.check_labels(metadata["labels"], path / "metadata" / "labels", errors)
    for key in _NOT_IN_TEMPLATES:
        if metadata.get(key):
            errors.forbidden(path / "metadata" / {"uid": "uID"}.get(key, key), "cannot be set")
    validate_claim_spec(template.get("spec", {}), path / "spec", errors)


def _image(source: Object, path: Path, errors: Errors) -> None:
    checks.present(source, ("reference",), path, errors)
    allowed = ("Always", "IfNotPresent", "Never")
    checks.required_one_of(source.get("pullPolicy", ""), allowed, path / "pullPolicy", errors)


# In the order in which the first of several counts as the volume's type.
SOURCES: dict[str, Check] = {
    "emptyDir": _empty_dir,
    "hostPath": validate_host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": partitioned("pdName", "persistentDisk"),
    "awsElasticBlockStore": partitioned("volumeID"),
    "secret": _mapped("secretName"),
    "nfs": validate_nfs,
    "iscsi": _iscsi,
    "glusterfs": needs("endpoints", "path"),
    "flocker": validate_flocker,
    "persistentVolumeClaim": needs("claimName"),
    "rbd": needs("monitors", "image"),
    "cinder": _cinder,
    "cephfs": needs("monitors"),
    "quobyte": validate_quobyte,
    "downwardAPI": _downward,
    "fc": validate_fc,
    "flexVolume": validate_flex,
    "configMap": _mapped("name"),
    "azureFile": needs("secretName", "shareName"),
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": validate_azure_disk,
    "storageos": _storage_os,
    "projected": validate_projected,
    "scaleIO": needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
ORDER = {key: index for index, key in enumerate(SOURCES)}
